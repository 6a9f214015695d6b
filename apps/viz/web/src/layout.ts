// Layered drawing of a directed graph without cycles: sources above, results below.
//
// Layers by longest path, order within a layer by the mean place of neighbours, places by least squares that keep
// the order. Each step is linear in nodes and edges, so 5,000 nodes take a fraction of a second.

export interface LayoutInput {
  widths: number[];
  heights: number[];
  edges: [from: number, to: number][];
}
export interface LayoutResult {
  x: number[];
  y: number[];
  /** For each edge, the x and y of the points between its ends. */
  bends: number[][];
  width: number;
  height: number;
}

const GAP_X = 18;
const GAP_Y = 44;
// edges over several layers run through points of their own, unless that would be too many
const MOST_BENDS = 40_000;
const BEND_WIDTH = 6;

export function layout({ widths, heights, edges }: LayoutInput): LayoutResult {
  const count = widths.length;
  const layerOf = layers(count, edges);
  const parents: number[][] = widths.map(() => []);
  const children: number[][] = widths.map(() => []);
  const width = [...widths];
  const link = (from: number, to: number) => {
    children[from].push(to);
    parents[to].push(from);
  };
  const through: number[][] = [];
  const points = edges.reduce((sum, [from, to]) => sum + layerOf[to] - layerOf[from] - 1, 0);
  for (const [from, to] of edges) {
    const chain: number[] = [];
    let last = from;
    if (points <= MOST_BENDS)
      for (let layer = layerOf[from] + 1; layer < layerOf[to]; layer++) {
        const bend = width.length;
        width.push(BEND_WIDTH);
        layerOf.push(layer);
        parents.push([]);
        children.push([]);
        link(last, bend);
        chain.push(bend);
        last = bend;
      }
    link(last, to);
    through.push(chain);
  }
  const rows = ordered(layerOf, parents, children);
  const x = placed(rows, width, parents, children);
  const tops = rowTops(rows, heights);
  const y = layerOf.map((layer, i) => tops.middle[layer] - (heights[i] ?? 0) / 2);
  const left = x.reduce((least, value, i) => Math.min(least, value - width[i] / 2), 0);
  for (let i = 0; i < x.length; i++) x[i] -= left;
  return {
    x: x.slice(0, count).map((value, i) => value - widths[i] / 2),
    y: y.slice(0, count),
    bends: through.map((chain) => chain.flatMap((bend) => [x[bend], tops.middle[layerOf[bend]]])),
    width: x.reduce((most, value, i) => Math.max(most, value + width[i] / 2), 0),
    height: tops.height,
  };
}

/** Longest paths from above; then what nobody above holds moves down to its users. */
function layers(count: number, edges: [number, number][]): number[] {
  const below: number[][] = Array.from({ length: count }, () => []);
  const waiting = new Array<number>(count).fill(0);
  for (const [from, to] of edges) {
    below[from].push(to);
    waiting[to] += 1;
  }
  const above = [...waiting];
  const layer = new Array<number>(count).fill(0);
  const order: number[] = [];
  for (let i = 0; i < count; i++) if (!waiting[i]) order.push(i);
  for (let next = 0; next < order.length; next++)
    for (const to of below[order[next]]) {
      layer[to] = Math.max(layer[to], layer[order[next]] + 1);
      if (--waiting[to] === 0) order.push(to);
    }
  for (const i of order.reverse())
    if (below[i].length > above[i]) layer[i] = Math.min(...below[i].map((to) => layer[to])) - 1;
    else if (below[i].length === above[i] && below[i].length)
      layer[i] = Math.max(layer[i], Math.min(...below[i].map((to) => layer[to])) - 1);
  const least = layer.reduce((a, b) => Math.min(a, b), 0);
  return layer.map((value) => value - least);
}

function ordered(layerOf: number[], parents: number[][], children: number[][]): number[][] {
  const rows: number[][] = [];
  const seen = new Uint8Array(layerOf.length);
  const visit = (start: number) => {
    const todo = [start];
    while (todo.length) {
      const i = todo.pop()!;
      if (seen[i]) continue;
      seen[i] = 1;
      (rows[layerOf[i]] ??= []).push(i);
      for (let k = parents[i].length - 1; k >= 0; k--) todo.push(parents[i][k]);
    }
  };
  // from the results up, in the order of their sources
  for (let i = layerOf.length - 1; i >= 0; i--) if (!children[i].length) visit(i);
  for (let i = 0; i < rows.length; i++) rows[i] ??= [];
  const place = new Float64Array(layerOf.length);
  const absolute = (row: number[]) => row.forEach((i, at) => (place[i] = at - row.length / 2));
  rows.forEach(absolute);
  const mean = (i: number, others: number[][]) => {
    const near = others[i];
    if (!near.length) return place[i];
    let sum = 0;
    for (const other of near) sum += place[other];
    return sum / near.length;
  };
  const sweeps = layerOf.length > 8000 ? 4 : 12;
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const isDown = sweep % 2 === 0;
    const others = isDown ? parents : children;
    const all = isDown ? rows : [...rows].reverse();
    for (const row of all) {
      const wanted = new Map(row.map((i) => [i, mean(i, others)]));
      row.sort((a, b) => wanted.get(a)! - wanted.get(b)!);
      absolute(row);
    }
  }
  return rows;
}

/** Return the middle of each node: as near to its neighbours as the order of its row allows. */
function placed(rows: number[][], width: number[], parents: number[][], children: number[][]): number[] {
  const x = new Array<number>(width.length).fill(0);
  for (const row of rows) {
    let at = 0;
    for (const i of row) {
      x[i] = at + width[i] / 2;
      at += width[i] + GAP_X;
    }
    for (const i of row) x[i] -= at / 2;
  }
  const sweeps = width.length > 8000 ? 6 : 16;
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const isDown = sweep % 2 === 0;
    for (const row of isDown ? rows : [...rows].reverse()) {
      const wanted = row.map((i) => {
        const near = sweep < sweeps - 2 ? (isDown ? parents : children)[i] : [...parents[i], ...children[i]];
        return near.length ? near.reduce((sum, other) => sum + x[other], 0) / near.length : x[i];
      });
      const weights = row.map((i) => 1 + (isDown ? parents : children)[i].length);
      separate(row, wanted, weights, width, x);
    }
  }
  return x;
}

/** Put a row at the least sum of weighted squares from `wanted`, with gaps: pools of neighbours that touch. */
function separate(row: number[], wanted: number[], weights: number[], width: number[], x: number[]): void {
  const offset: number[] = [];
  let run = 0;
  row.forEach((i, at) => {
    if (at) run += (width[row[at - 1]] + width[i]) / 2 + GAP_X;
    offset.push(run);
  });
  const pools: { sum: number; weight: number; size: number }[] = [];
  for (let at = 0; at < row.length; at++) {
    let pool = { sum: (wanted[at] - offset[at]) * weights[at], weight: weights[at], size: 1 };
    while (pools.length && pools[pools.length - 1].sum / pools[pools.length - 1].weight > pool.sum / pool.weight) {
      const left = pools.pop()!;
      pool = { sum: left.sum + pool.sum, weight: left.weight + pool.weight, size: left.size + pool.size };
    }
    pools.push(pool);
  }
  let at = 0;
  for (const pool of pools) for (let k = 0; k < pool.size; k++, at++) x[row[at]] = pool.sum / pool.weight + offset[at];
}

function rowTops(rows: number[][], heights: number[]): { middle: number[]; height: number } {
  const middle: number[] = [];
  let top = 0;
  for (const row of rows) {
    const tallest = row.reduce((most, i) => Math.max(most, heights[i] ?? 0), 8);
    // wide rows need room for edges that go across
    const gap = GAP_Y + Math.min(60, row.length * 0.6);
    middle.push(top + tallest / 2);
    top += tallest + gap;
  }
  return { middle, height: top };
}
