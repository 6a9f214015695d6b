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
// nobody zooms out further, unless the graph is larger
const LEAST_SCALE = 0.02;
// a graph with more edges than can be drawn in a frame moves as a picture: it is drawn again when it rests this long,
// and while it moves this often (milliseconds)
const MOST_EDGES_OF_A_FRAME = 2000;
const REST = 80;
const LONGEST_PICTURE = 300;

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
  /** For each edge, the x and y of its points from the upper end to the lower. */
  private routes: number[][] = [];
  private bounds = { width: 1, height: 1 };
  private view = { x: 0, y: 0, scale: 1 };
  private selected: number | null = null;
  private found = new Set<number>();
  private foundAt = -1;
  private frame = 0;
  private hasMoved = false;
  private movedAt = 0;
  private paintedAt = 0;
  private painted = this.view;
  private picture = h("canvas");

  constructor(private onSelect: (id: number | null) => void) {
    this.element.append(this.canvas, this.message);
    this.worker.onmessage = (event) => this.arranged(event.data);
    new ResizeObserver(() => this.draw()).observe(this.element);
    this.listen();
  }

  show(drawing: Drawing): void {
    this.job += 1;
    this.routes = [];
    this.found.clear();
    this.selected = null;
    const context = this.canvas.getContext("2d")!;
    const sizeOf = measurer(context);
    this.boxes = drawing.cards.map((card) => ({ ...card, ...sizeOf(card), x: 0, y: 0 }));
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
    const scale = this.scaleOfAll();
    this.view = {
      scale,
      x: (width - this.bounds.width * scale) / 2,
      y: Math.max(24, (height - this.bounds.height * scale) / 2),
    };
    this.draw();
  }

  private scaleOfAll(): number {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    return Math.min(1, Math.max(width - 48, 1) / this.bounds.width, Math.max(height - 48, 1) / this.bounds.height);
  }

  zoom(factor: number, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2): void {
    const scale = Math.min(4, Math.max(Math.min(LEAST_SCALE, this.scaleOfAll()), this.view.scale * factor));
    const ratio = scale / this.view.scale;
    this.view = { scale, x: x - (x - this.view.x) * ratio, y: y - (y - this.view.y) * ratio };
    this.moved();
  }

  draw(): void {
    this.movedAt = 0;
    this.nextFrame();
  }

  private moved(): void {
    this.hasMoved = true;
    this.movedAt = performance.now();
    this.nextFrame();
  }

  private nextFrame(): void {
    this.frame ||= requestAnimationFrame((now) => {
      this.frame = 0;
      const isLate = now - this.movedAt > REST || now - this.paintedAt > LONGEST_PICTURE;
      if (isLate || this.routes.length <= MOST_EDGES_OF_A_FRAME) return this.paint();
      this.movePicture();
      this.nextFrame();
    });
  }

  private movePicture(): void {
    const { context, width, height } = sized(this.canvas);
    const ratio = this.view.scale / this.painted.scale;
    const x = this.view.x - this.painted.x * ratio;
    const y = this.view.y - this.painted.y * ratio;
    context.drawImage(this.picture, x, y, width * ratio, height * ratio);
  }

  private keepPicture(): void {
    this.picture.width = this.canvas.width;
    this.picture.height = this.canvas.height;
    this.picture.getContext("2d")!.drawImage(this.canvas, 0, 0);
    this.painted = { ...this.view };
    this.paintedAt = performance.now();
  }

  private arranged({ job, result }: { job: number; result: LayoutResult }): void {
    if (job !== this.job) return;
    this.boxes.forEach((box, i) => {
      box.x = result.x[i];
      box.y = result.y[i];
    });
    this.routes = this.edges.map(([from, to], i) => {
      const a = this.boxes[from];
      const b = this.boxes[to];
      return [a.x + a.width / 2, a.y + a.height, ...(result.bends[i] ?? []), b.x + b.width / 2, b.y];
    });
    this.bounds = { width: result.width, height: result.height };
    this.element.dataset.state = "ready";
    this.element.dataset.nodes = String(this.boxes.length);
    this.message.textContent = "";
    this.hasMoved = false;
    this.fit();
    // a graph too large to read is shown from its result up
    if (this.view.scale < LEAST_FOR_LINES && this.boxes.length) this.startReadable();
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
    if (this.element.dataset.state === "busy") return;
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
    if (this.routes.length > MOST_EDGES_OF_A_FRAME) this.keepPicture();
  }

  private paintEdges(context: CanvasRenderingContext2D, left: number, top: number, right: number, bottom: number): void {
    const near = new Path2D();
    const far = new Path2D();
    const isStraight = this.view.scale < LEAST_FOR_SHAPES;
    this.routes.forEach((route, i) => {
      const last = route.length - 2;
      if (route[last + 1] < top || route[1] > bottom) return;
      const isNear = this.edges[i].some((end) => this.boxes[end].id === this.selected);
      const path = isNear ? near : far;
      // only pieces in sight: an edge over many layers has as many, and all edges together tens of thousands
      let isDrawing = false;
      for (let k = 0; k < last; k += isStraight ? last : 2) {
        const next = isStraight ? last : k + 2;
        const x0 = route[k];
        const y0 = route[k + 1];
        const x1 = route[next];
        const y1 = route[next + 1];
        if (y0 > bottom) break;
        const isSeen = y1 >= top && Math.max(x0, x1) >= left && Math.min(x0, x1) <= right;
        if (isSeen && !isDrawing) path.moveTo(x0, y0);
        isDrawing = isSeen;
        if (!isSeen) continue;
        const middle = (y0 + y1) / 2;
        if (isStraight) path.lineTo(x1, y1);
        else path.bezierCurveTo(x0, middle, x1, middle, x1, y1);
      }
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
      this.moved();
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
        this.moved();
      } else if (event.key === "+" || event.key === "=") this.zoom(1.25);
      else if (event.key === "-") this.zoom(0.8);
      else if (event.key === "0") this.fit();
    });
    new ResizeObserver(() => !this.hasMoved && this.boxes.length < 400 && this.fit()).observe(this.canvas);
  }
}

/** Return a function of a card's size; most texts of a large graph are the same few, so each is measured once. */
function measurer(context: CanvasRenderingContext2D): (card: Card) => { width: number; height: number } {
  const widthIn = (font: string) => {
    const widths = new Map<string, number>();
    return (text: string) => {
      let width = widths.get(text);
      if (width === undefined) {
        context.font = font;
        width = context.measureText(text).width;
        widths.set(text, width);
      }
      return width;
    };
  };
  const widthOfTitle = widthIn(TITLE);
  const widthOfLine = widthIn(TEXT);
  return (card) => {
    const width = Math.max(widthOfTitle(card.title), ...card.lines.map(widthOfLine));
    return { width: Math.ceil(width) + 2 * PADDING + 6, height: 27 + LINE * card.lines.length };
  };
}
