// A graph on a canvas: pan, zoom, search, select. Only what is visible is drawn; the layout runs in a worker.
import type { Card, Drawing } from "./cards";
import { colour, h, sized } from "./dom";
import type { LayoutInput, LayoutResult } from "./layout";
import LayoutWorker from "./layout.worker?worker&inline";

const TITLE = "600 12px system-ui, sans-serif";
const TEXT = "11px ui-monospace, monospace";
const LINE = 15;
const PADDING = 10;
// below these scales there is no room for lines, then not for titles
const LEAST_FOR_LINES = 0.55;
const LEAST_FOR_TITLES = 0.3;
// below this scale nodes are plain rectangles, and edges straight
const LEAST_FOR_SHAPES = 0.15;

interface Box extends Card {
  x: number;
  y: number;
  width: number;
  height: number;
}

export class GraphView {
  readonly element = h("div", { class: "graph" });
  private canvas = h("canvas", { tabindex: "0", "aria-label": "graph" });
  private message = h("div", { class: "graph-message" });
  private worker = new LayoutWorker();
  private job = 0;
  private boxes: Box[] = [];
  private byId = new Map<number, number>();
  private edges: [number, number][] = [];
  private bends: number[][] = [];
  private bounds = { width: 1, height: 1 };
  private view = { x: 0, y: 0, scale: 1 };
  private selected: number | null = null;
  private found = new Set<number>();
  private foundAt = -1;
  private frame = 0;
  private hasMoved = false;

  constructor(private onSelect: (id: number | null) => void) {
    this.element.append(this.canvas, this.message);
    this.worker.onmessage = (event) => this.arranged(event.data);
    new ResizeObserver(() => this.draw()).observe(this.element);
    this.listen();
  }

  show(drawing: Drawing): void {
    this.job += 1;
    this.found.clear();
    this.selected = null;
    const context = this.canvas.getContext("2d")!;
    this.boxes = drawing.cards.map((card) => ({ ...card, ...measure(context, card), x: 0, y: 0 }));
    this.byId = new Map(this.boxes.map((box, i) => [box.id, i]));
    this.edges = drawing.edges.map(([from, to]) => [this.byId.get(from)!, this.byId.get(to)!]);
    this.message.textContent = this.boxes.length ? `arranging ${this.boxes.length.toLocaleString("en")} nodes…` : "nothing to draw";
    this.element.dataset.state = "busy";
    const input: LayoutInput = {
      widths: this.boxes.map((box) => box.width),
      heights: this.boxes.map((box) => box.height),
      edges: this.edges,
    };
    this.worker.postMessage({ job: this.job, input });
  }

  /** Select the nodes whose text holds `words`, and go to the first; again: to the next. */
  search(words: string, goesOn: boolean): number {
    const wanted = words.trim().toLowerCase();
    const hits = !wanted
      ? []
      : this.boxes.filter((box) => `${box.title} ${box.lines.join(" ")} %${box.id}`.toLowerCase().includes(wanted));
    this.found = new Set(hits.map((box) => box.id));
    this.foundAt = goesOn ? (this.foundAt + 1) % Math.max(1, hits.length) : 0;
    if (hits.length) this.goTo(hits[this.foundAt].id);
    this.draw();
    return hits.length;
  }

  select(id: number | null): void {
    this.selected = id;
    this.draw();
  }

  goTo(id: number): void {
    const box = this.boxes[this.byId.get(id)!];
    if (!box) return;
    const scale = Math.max(this.view.scale, 0.8);
    this.view = {
      scale,
      x: this.canvas.clientWidth / 2 - (box.x + box.width / 2) * scale,
      y: this.canvas.clientHeight / 2 - (box.y + box.height / 2) * scale,
    };
    this.draw();
  }

  /** Go to the first node that was added or removed. */
  goToChange(): void {
    const changed = this.boxes.filter((box) => box.state !== "same");
    if (changed.length) this.goTo(changed[changed.length - 1].id);
  }

  fit(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const scale = Math.min(1, (width - 48) / this.bounds.width, (height - 48) / this.bounds.height);
    this.view = {
      scale: Math.max(scale, 0.02),
      x: (width - this.bounds.width * scale) / 2,
      y: Math.max(24, (height - this.bounds.height * scale) / 2),
    };
    this.draw();
  }

  zoom(factor: number, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2): void {
    const scale = Math.min(4, Math.max(0.02, this.view.scale * factor));
    const ratio = scale / this.view.scale;
    this.view = { scale, x: x - (x - this.view.x) * ratio, y: y - (y - this.view.y) * ratio };
    this.hasMoved = true;
    this.draw();
  }

  draw(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.paint();
    });
  }

  private arranged({ job, result }: { job: number; result: LayoutResult }): void {
    if (job !== this.job) return;
    this.boxes.forEach((box, i) => {
      box.x = result.x[i];
      box.y = result.y[i];
    });
    this.bends = result.bends;
    this.bounds = { width: result.width, height: result.height };
    this.message.textContent = "";
    this.hasMoved = false;
    this.fit();
    // a graph too large to read is shown from its result up
    if (this.view.scale < LEAST_FOR_LINES && this.boxes.length) this.startReadable();
    this.element.dataset.state = "ready";
    this.element.dataset.nodes = String(this.boxes.length);
  }

  private startReadable(): void {
    const changed = this.boxes.filter((box) => box.state !== "same");
    const target = changed[changed.length - 1] ?? this.boxes.reduce((a, b) => (b.y > a.y ? b : a));
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const scale = Math.max(this.view.scale, 0.8);
    // what fits in one direction stays in the middle of it
    const isLow = this.bounds.height * scale < height - 48;
    this.view = {
      scale,
      x: width / 2 - (target.x + target.width / 2) * scale,
      y: isLow ? (height - this.bounds.height * scale) / 2 : height * 0.7 - target.y * scale,
    };
    this.hasMoved = true;
    this.draw();
  }

  private paint(): void {
    const { context, width, height } = sized(this.canvas);
    const { x, y, scale } = this.view;
    context.translate(x, y);
    context.scale(scale, scale);
    const left = -x / scale;
    const top = -y / scale;
    const right = left + width / scale;
    const bottom = top + height / scale;
    this.paintEdges(context, left, top, right, bottom);
    for (const box of this.boxes)
      if (box.x < right && box.x + box.width > left && box.y < bottom && box.y + box.height > top) this.paintBox(context, box, scale);
  }

  private paintEdges(context: CanvasRenderingContext2D, left: number, top: number, right: number, bottom: number): void {
    const near = new Path2D();
    const far = new Path2D();
    this.edges.forEach(([from, to], i) => {
      const a = this.boxes[from];
      const b = this.boxes[to];
      const x0 = a.x + a.width / 2;
      const y0 = a.y + a.height;
      const x1 = b.x + b.width / 2;
      const y1 = b.y;
      if (y1 < top || y0 > bottom) return;
      const bends = this.bends[i] ?? [];
      let least = Math.min(x0, x1);
      let most = Math.max(x0, x1);
      for (let k = 0; k < bends.length; k += 2) {
        least = Math.min(least, bends[k]);
        most = Math.max(most, bends[k]);
      }
      if (most < left || least > right) return;
      const isNear = a.id === this.selected || b.id === this.selected;
      const path = isNear ? near : far;
      if (this.view.scale < LEAST_FOR_SHAPES) {
        path.moveTo(x0, y0);
        path.lineTo(x1, y1);
      } else curve(path, [x0, y0, ...bends, x1, y1]);
    });
    context.lineWidth = Math.max(1.2, 0.6 / this.view.scale);
    context.strokeStyle = colour("edge");
    context.stroke(far);
    context.lineWidth = Math.max(2, 1.4 / this.view.scale);
    context.strokeStyle = colour("accent");
    context.stroke(near);
  }

  private paintBox(context: CanvasRenderingContext2D, box: Box, scale: number): void {
    const { x, y, width, height } = box;
    const isFound = this.found.has(box.id);
    const isSelected = box.id === this.selected;
    if (scale < LEAST_FOR_SHAPES) {
      const state = box.state === "same" ? `op-${box.category}` : box.state;
      context.fillStyle = colour(isSelected ? "accent" : isFound ? "found" : state);
      context.fillRect(x, y, width, height);
      return;
    }
    context.fillStyle = colour(box.state === "same" ? "card" : `${box.state}-fill`);
    context.beginPath();
    context.roundRect(x, y, width, height, 6);
    context.fill();
    context.lineWidth = isSelected || isFound ? 2.5 : box.state === "same" ? 1 : 2;
    context.strokeStyle = colour(isSelected ? "accent" : isFound ? "found" : box.state === "same" ? "card-edge" : box.state);
    context.stroke();
    context.fillStyle = colour(`op-${box.category}`);
    context.beginPath();
    context.roundRect(x, y, 5, height, [6, 0, 0, 6]);
    context.fill();
    if (scale < LEAST_FOR_TITLES) return;
    context.font = TITLE;
    context.fillStyle = colour("ink");
    context.fillText(box.title, x + PADDING + 3, y + 18);
    if (scale < LEAST_FOR_LINES) return;
    context.font = TEXT;
    context.fillStyle = colour("muted");
    box.lines.forEach((line, i) => context.fillText(line, x + PADDING + 3, y + 18 + LINE * (i + 1)));
  }

  private at(event: MouseEvent): Box | undefined {
    const bounds = this.canvas.getBoundingClientRect();
    const x = (event.clientX - bounds.left - this.view.x) / this.view.scale;
    const y = (event.clientY - bounds.top - this.view.y) / this.view.scale;
    return this.boxes.findLast((box) => x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height);
  }

  private listen(): void {
    let start: { x: number; y: number; view: { x: number; y: number } } | null = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      start = { x: event.clientX, y: event.clientY, view: { ...this.view } };
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!start) {
        this.canvas.style.cursor = this.at(event) ? "pointer" : "grab";
        return;
      }
      this.view.x = start.view.x + event.clientX - start.x;
      this.view.y = start.view.y + event.clientY - start.y;
      this.hasMoved = true;
      this.draw();
    });
    this.canvas.addEventListener("pointerup", (event) => {
      const isClick = start && Math.hypot(event.clientX - start.x, event.clientY - start.y) < 4;
      start = null;
      if (!isClick) return;
      this.select(this.at(event)?.id ?? null);
      this.onSelect(this.selected);
    });
    this.canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const bounds = this.canvas.getBoundingClientRect();
        this.zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - bounds.left, event.clientY - bounds.top);
      },
      { passive: false },
    );
    this.canvas.addEventListener("keydown", (event) => {
      const step = 60;
      const moves: Record<string, [number, number]> = {
        ArrowLeft: [step, 0],
        ArrowRight: [-step, 0],
        ArrowUp: [0, step],
        ArrowDown: [0, -step],
      };
      if (event.key in moves) {
        this.view.x += moves[event.key][0];
        this.view.y += moves[event.key][1];
        this.draw();
      } else if (event.key === "+" || event.key === "=") this.zoom(1.25);
      else if (event.key === "-") this.zoom(0.8);
      else if (event.key === "0") this.fit();
    });
    new ResizeObserver(() => !this.hasMoved && this.boxes.length < 400 && this.fit()).observe(this.canvas);
  }
}

function measure(context: CanvasRenderingContext2D, card: Card): { width: number; height: number } {
  context.font = TITLE;
  let width = context.measureText(card.title).width;
  context.font = TEXT;
  for (const line of card.lines) width = Math.max(width, context.measureText(line).width);
  return { width: Math.ceil(width) + 2 * PADDING + 6, height: 27 + LINE * card.lines.length };
}

/** A line through points that comes and goes straight down. */
function curve(path: Path2D, points: number[]): void {
  path.moveTo(points[0], points[1]);
  for (let i = 2; i < points.length; i += 2) {
    const middle = (points[i - 1] + points[i + 1]) / 2;
    path.bezierCurveTo(points[i - 2], middle, points[i], middle, points[i], points[i + 1]);
  }
}
