// The timeline: spans by device and thread over memory, with what is alive at the cursor.
import { colour, h, sized } from "./dom";
import { lanes, type Lane, type Span } from "./trace";
import type { MemoryChange, Recording } from "./recording";
import { bytes, seconds, shortLine } from "./units";

const ROW = 20;
const TITLE = 22;
const RULER = 26;
const MEMORY = 96;
const GAP = 8;

interface Alive {
  nbytes: number;
  label: string;
  device: string;
}

export class Timeline {
  readonly element: HTMLElement;
  private canvas = h("canvas", { tabindex: "0", "aria-label": "timeline" });
  private tip = h("div", { class: "tip", hidden: true });
  private lanes: Lane[];
  private end: number;
  private begin: number;
  private from: number;
  private to: number;
  private scroll = 0;
  private cursor: number | null = null;
  private memory: { t: number; used: number }[] = [];
  private most = 1;
  private frame = 0;

  constructor(
    private recording: Recording,
    private onSpan: (span: Span) => void,
    private onCursor: (contents: HTMLElement) => void,
  ) {
    this.lanes = lanes(recording);
    const spans = this.lanes.flatMap((lane) => lane.spans);
    this.begin = Math.min(0, ...spans.map((s) => s.start));
    this.end = Math.max(1e-3, ...spans.map((s) => s.end), ...recording.memory.map((m) => m.t));
    const room = (this.end - this.begin) * 0.01;
    this.from = this.begin - room;
    this.to = this.end + room;
    let used = 0;
    for (const change of recording.memory) {
      used += change.nbytes;
      this.memory.push({ t: change.t, used });
      this.most = Math.max(this.most, used);
    }
    this.element = h("div", { class: "timeline" }, this.canvas, this.tip);
    new ResizeObserver(() => this.draw()).observe(this.element);
    this.listen();
  }

  draw(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.paint();
    });
  }

  fit(): void {
    const room = (this.end - this.begin) * 0.01;
    this.from = this.begin - room;
    this.to = this.end + room;
    this.draw();
  }

  zoom(factor: number, at = (this.from + this.to) / 2): void {
    const width = Math.min((this.to - this.from) / factor, (this.end - this.begin) * 1.2);
    const share = (at - this.from) / (this.to - this.from);
    this.from = at - width * share;
    this.to = this.from + width;
    this.draw();
  }

  private x(t: number, width: number): number {
    return ((t - this.from) / (this.to - this.from)) * width;
  }

  private paint(): void {
    const { context, width, height } = sized(this.canvas);
    if (!width) return;
    const bottom = height - MEMORY;
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.save();
    context.beginPath();
    context.rect(0, RULER, width, bottom - RULER);
    context.clip();
    for (const { lane, top } of this.tops()) this.paintLane(context, lane, top, width, bottom);
    context.restore();
    this.paintRuler(context, width, height);
    this.paintMemory(context, width, height);
    if (this.cursor !== null) {
      context.fillStyle = colour("accent");
      context.fillRect(this.x(this.cursor, width), RULER, 1, height - RULER);
    }
  }

  private tops(): { lane: Lane; top: number }[] {
    let top = RULER + GAP - this.scroll;
    return this.lanes.map((lane) => {
      const here = top;
      top += TITLE + lane.depth * ROW + GAP;
      return { lane, top: here };
    });
  }

  private paintLane(context: CanvasRenderingContext2D, lane: Lane, top: number, width: number, bottom: number): void {
    if (top > bottom || top + TITLE + lane.depth * ROW < RULER) return;
    const last = new Float64Array(lane.depth).fill(-1);
    for (const span of lane.spans) {
      const x0 = this.x(span.start, width);
      const x1 = this.x(span.end, width);
      // spans narrower than a pixel are drawn once for each pixel
      if (x1 < 0 || x0 > width || Math.max(x1, x0 + 1) <= last[span.depth]) continue;
      last[span.depth] = Math.max(x1, x0 + 1);
      const y = top + TITLE + span.depth * ROW;
      context.fillStyle = colour(`span-${span.category}`);
      context.fillRect(x0, y, Math.max(1, x1 - x0 - (x1 - x0 > 4 ? 1 : 0)), ROW - 2);
      if (x1 - x0 > 40) {
        context.fillStyle = colour("span-ink");
        const start = Math.max(x0, 0) + 5;
        context.fillText(clipped(context, span.name, Math.min(x1, width) - start - 4), start, y + ROW / 2 - 1);
      }
    }
    context.fillStyle = colour("muted");
    context.font = "600 11px system-ui, sans-serif";
    context.fillText(lane.name, 10, top + TITLE / 2);
    context.font = "11px system-ui, sans-serif";
  }

  private paintRuler(context: CanvasRenderingContext2D, width: number, height: number): void {
    const step = niceStep((this.to - this.from) / Math.max(2, width / 110));
    context.fillStyle = colour("panel");
    context.fillRect(0, 0, width, RULER);
    for (let t = Math.ceil(this.from / step) * step; t < this.to; t += step) {
      const x = this.x(t, width);
      context.fillStyle = colour("grid");
      context.fillRect(x, RULER, 1, height - RULER);
      context.fillStyle = colour("muted");
      context.fillText(Math.abs(t) < step / 2 ? "0" : label(t, step), x + 4, RULER / 2);
    }
  }

  private paintMemory(context: CanvasRenderingContext2D, width: number, height: number): void {
    const top = height - MEMORY;
    context.fillStyle = colour("panel");
    context.fillRect(0, top, width, MEMORY);
    context.fillStyle = colour("card-edge");
    context.fillRect(0, top, width, 1);
    const y = (used: number) => height - (used / this.most) * (MEMORY - 30);
    context.beginPath();
    let used = 0;
    context.moveTo(0, height);
    for (const { t, used: now } of this.memory) {
      const x = this.x(t, width);
      if (x > width) break;
      if (x >= 0) {
        context.lineTo(x, y(used));
        context.lineTo(x, y(now));
      } else {
        context.lineTo(0, y(now));
      }
      used = now;
    }
    context.lineTo(Math.min(width, this.x(this.end, width)), y(used));
    context.lineTo(Math.min(width, this.x(this.end, width)), height);
    context.closePath();
    context.fillStyle = colour("memory-fill");
    context.fill();
    context.strokeStyle = colour("op-memory");
    context.lineWidth = 1;
    context.stroke();
    context.fillStyle = colour("muted");
    context.fillText(`memory, at most ${bytes(this.most)}`, 10, top + 13);
  }

  private spanAt(x: number, y: number): Span | undefined {
    const width = this.canvas.clientWidth;
    for (const { lane, top } of this.tops()) {
      const row = Math.floor((y - top - TITLE) / ROW);
      if (row < 0 || row >= lane.depth) continue;
      const slack = (this.to - this.from) / width;
      const t = this.from + x * slack;
      return lane.spans.findLast((span) => span.depth === row && span.start <= t + slack && span.end >= t - slack);
    }
    return undefined;
  }

  private alive(t: number): Alive[] {
    const held = new Map<string, Alive>();
    for (const change of this.recording.memory) {
      if (change.t > t) break;
      this.apply(held, change);
    }
    return [...held.values()].sort((a, b) => b.nbytes - a.nbytes);
  }

  private apply(held: Map<string, Alive>, change: MemoryChange): void {
    const key = `${change.device}/${change.address}`;
    if (change.nbytes > 0) held.set(key, { nbytes: change.nbytes, label: change.label, device: change.device });
    else held.delete(key);
  }

  private showAlive(t: number): void {
    const alive = this.alive(t);
    const total = alive.reduce((sum, each) => sum + each.nbytes, 0);
    const rows = alive
      .slice(0, 60)
      .map((each) => h("tr", {}, h("td", { class: "number" }, bytes(each.nbytes)), h("td", {}, each.device), h("td", { title: each.label }, shortLine(each.label))));
    this.onCursor(
      h(
        "section",
        {},
        h("h3", {}, `Alive at ${seconds(t)}`),
        h("p", { class: "quiet" }, `${alive.length} buffers, ${bytes(total)}`),
        h("table", { class: "table" }, h("thead", {}, h("tr", {}, h("th", {}, "size"), h("th", {}, "device"), h("th", {}, "made for"))), h("tbody", {}, ...rows)),
      ),
    );
  }

  private listen(): void {
    const { canvas } = this;
    const place = (event: MouseEvent) => {
      const bounds = canvas.getBoundingClientRect();
      return { x: event.clientX - bounds.left, y: event.clientY - bounds.top };
    };
    const time = (x: number) => this.from + (x / canvas.clientWidth) * (this.to - this.from);
    let drag: { x: number; y: number; from: number; to: number; scroll: number } | null = null;
    canvas.addEventListener("pointerdown", (event) => {
      drag = { ...place(event), from: this.from, to: this.to, scroll: this.scroll };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const { x, y } = place(event);
      if (drag) {
        const moved = ((drag.x - x) / canvas.clientWidth) * (drag.to - drag.from);
        this.from = drag.from + moved;
        this.to = drag.to + moved;
        this.scroll = Math.max(0, drag.scroll + drag.y - y);
        this.draw();
        return;
      }
      const span = this.spanAt(x, y);
      this.tip.hidden = !span;
      if (!span) return;
      const extra = Object.entries(span.facts).map(([name, value]) => `${name} ${typeof value === "number" ? value.toLocaleString("en") : value}`);
      this.tip.replaceChildren(h("b", {}, span.name), h("span", {}, `${span.category} · ${seconds(span.end - span.start)}`), ...extra.map((e) => h("span", {}, e)));
      this.tip.style.left = `${Math.min(x + 14, canvas.clientWidth - 240)}px`;
      this.tip.style.top = `${y + 16}px`;
    });
    canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    canvas.addEventListener("pointerup", (event) => {
      const { x, y } = place(event);
      const isClick = drag && Math.hypot(x - drag.x, y - drag.y) < 4;
      drag = null;
      if (!isClick) return;
      this.cursor = time(x);
      const span = y < canvas.clientHeight - MEMORY ? this.spanAt(x, y) : undefined;
      this.showAlive(this.cursor);
      if (span) this.onSpan(span);
      this.draw();
    });
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        if (event.shiftKey) this.scroll = Math.max(0, this.scroll + event.deltaY);
        else this.zoom(Math.exp(-event.deltaY * 0.002), time(place(event).x));
        this.draw();
      },
      { passive: false },
    );
    canvas.addEventListener("keydown", (event) => {
      const step = (this.to - this.from) * 0.15;
      if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
        const sign = event.key === "ArrowLeft" ? -1 : 1;
        this.from += sign * step;
        this.to += sign * step;
        this.draw();
      } else if (event.key === "+" || event.key === "=") this.zoom(1.4);
      else if (event.key === "-") this.zoom(1 / 1.4);
      else if (event.key === "0") this.fit();
    });
  }
}

function clipped(context: CanvasRenderingContext2D, text: string, width: number): string {
  const needed = context.measureText(text).width;
  if (needed <= width) return text;
  const fits = Math.floor((text.length * width) / needed) - 2;
  return fits > 2 ? `${text.slice(0, fits)}…` : "";
}

function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least)!;
}

function label(t: number, step: number): string {
  if (step >= 1) return `${t.toFixed(0)} s`;
  if (step >= 1e-3) return `${(t * 1e3).toFixed(0)} ms`;
  return `${(t * 1e6).toFixed(0)} µs`;
}
