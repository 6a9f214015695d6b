// A schedule as a picture: kernels and the memory between them, each with the reason why it ends there.
import { cut, type Card, type Drawing } from "./cards";
import { VIEWS } from "./details";
import type { Realize, Recording, ScheduledKernel } from "./recording";
import { count, shortLine } from "./units";

const MOST_OPS = 3;
const MOST_CHARACTERS = 38;

export interface SchedulePicture {
  drawing: Drawing;
  kernels: Map<number, ScheduledKernel>;
}

export function schedulePicture(recording: Recording, realize: Realize): SchedulePicture {
  const all = realize.schedules.flat();
  const kernels = new Map(all.map((kernel) => [kernel.root, kernel]));
  const cards: Card[] = [];
  const edges: [number, number][] = [];
  const drawn = new Set<number>();
  const memory = (id: number) => {
    // what no kernel of this schedule makes was there before
    if (kernels.has(id) || drawn.has(id)) return;
    drawn.add(id);
    const node = recording.nodes[id];
    cards.push({ id, title: "memory", lines: [`${node.dtype} (${node.shape ?? ""})`], category: "memory", state: "same" });
  };
  for (const kernel of all) {
    kernel.reads.forEach(memory);
    cards.push(kernelCard(recording, kernel));
    for (const id of new Set(kernel.reads)) if (id !== kernel.root) edges.push([id, kernel.root]);
  }
  return { drawing: { cards, edges }, kernels };
}

function kernelCard(recording: Recording, kernel: ScheduledKernel): Card {
  const root = recording.nodes[kernel.root];
  const ops = kernel.fused.map((id) => recording.nodes[id].op).filter((op) => !VIEWS.has(op));
  const names = [...new Set(ops)];
  const more = names.length > MOST_OPS ? ` +${names.length - MOST_OPS}` : "";
  const isCopy = root.op === "COPY";
  const name = isCopy ? `copy to ${kernel.device}` : (recording.lowered.get(kernel.ast)?.name ?? "kernel");
  const lines = [`${root.dtype} (${root.shape ?? ""})`];
  if (!isCopy && names.length) lines.push(`${count(ops.length, "op")}: ${names.slice(0, MOST_OPS).join(" ")}${more}`);
  if (kernel.lines.length) lines.push(shortLine(kernel.lines[kernel.lines.length - 1]));
  lines.push(cut(`∵ ${kernel.reason}`, MOST_CHARACTERS));
  return { id: kernel.root, title: name, lines, category: isCopy ? "movement" : ops.includes("REDUCE_AXIS") ? "reduce" : "compute", state: "same" };
}
