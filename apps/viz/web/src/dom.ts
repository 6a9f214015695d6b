// Elements in one expression: h("div", { class: "row", onclick }, "text", child).

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | ((event: any) => void)>;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function svg(tag: string, attributes: Record<string, string | number> = {}, ...children: (Node | string)[]) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** Make a canvas as large as its element, in device pixels; returns a context in CSS pixels. */
export function sized(canvas: HTMLCanvasElement): { context: CanvasRenderingContext2D; width: number; height: number } {
  const ratio = devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

const computed = new Map<string, string>();

/** The value of a CSS variable of the present theme. */
export function colour(name: string): string {
  let value = computed.get(name);
  if (value === undefined) {
    value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    computed.set(name, value);
  }
  return value;
}

export function forgetColours(): void {
  computed.clear();
}
