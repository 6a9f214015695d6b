// What is drawn for a node: its title, some lines, a category that gives its colour, and what became of it.
import type { GraphNode, Recording } from "./recording";

export type State = "same" | "added" | "removed";
export interface Card {
  id: number;
  title: string;
  lines: string[];
  category: string;
  state: State;
}
export interface Drawing {
  cards: Card[];
  /** Pairs of ids, from what is read to its reader. */
  edges: [number, number][];
}

const CATEGORIES: [string, string][] = [
  ["memory", "BUFFER PARAM LOAD STORE INDEX COPY ASSIGN AFTER CONTIGUOUS LOCAL DEFINE_LOCAL DEFINE_ACC ACCUMULATE BARRIER"],
  ["movement", "RESHAPE EXPAND PERMUTE FLIP PAD SHRINK BITCAST CAST"],
  ["reduce", "REDUCE REDUCE_AXIS WMMA CONTRACT MULACC"],
  ["loop", "RANGE END IF ENDIF SPECIAL IOTA"],
  ["number", "CONST DEFINE_VAR BIND VECTORIZE GEP STACK"],
  ["root", "SINK KERNEL"],
];
const CATEGORY = new Map(CATEGORIES.flatMap(([name, ops]) => ops.split(" ").map((op) => [op, name] as const)));
export const categoryOf = (op: string) => CATEGORY.get(op) ?? "compute";
export const CATEGORY_NAMES = ["memory", "compute", "reduce", "movement", "loop", "number"];

export const cut = (text: string, most = 34) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const isNumber = (node: GraphNode) => node.op === "CONST" && !node.src.length;

export function nodeCard(recording: Recording, node: GraphNode, state: State, folds: boolean): Card {
  const lines: string[] = [];
  const what = [node.dtype === "void" ? "" : node.dtype, node.shape ? `(${node.shape})` : ""].filter(Boolean).join(" ");
  if (what) lines.push(cut(what));
  if (node.arg !== undefined && node.op !== "SINK") lines.push(cut(node.arg));
  else if (node.bounds && node.op !== "RANGE") lines.push(node.bounds);
  let title = node.op;
  if (folds) {
    const numbers = node.src.map((id) => recording.nodes[id]).filter(isNumber);
    const values = numbers.map((n) => n.arg ?? "");
    if (values.length) title = `${node.op}  ${cut(values.join(", "), 22)}`;
  }
  return { id: node.id, title, lines, category: categoryOf(node.op), state };
}

export interface Sides {
  before?: Set<number>;
  after?: Set<number>;
}

/** Draw nodes of one or both graphs. Numbers are written into their readers if `folds`. */
export function drawing(recording: Recording, sides: Sides, which: "before" | "both" | "after", folds: boolean): Drawing {
  const before = sides.before ?? sides.after!;
  const after = sides.after ?? sides.before!;
  const shown = which === "before" ? before : which === "after" ? after : new Set([...before, ...after]);
  const cards: Card[] = [];
  const edges: [number, number][] = [];
  const isHidden = (id: number) => folds && isNumber(recording.nodes[id]) && shown.size > 1;
  for (const id of [...shown].sort((a, b) => a - b)) {
    if (isHidden(id)) continue;
    const node = recording.nodes[id];
    const state: State = !before.has(id) ? "added" : !after.has(id) ? "removed" : "same";
    cards.push(nodeCard(recording, node, state, folds));
    const sources = new Set(node.src);
    for (const source of sources) if (shown.has(source) && !isHidden(source)) edges.push([source, id]);
  }
  return { cards, edges };
}
