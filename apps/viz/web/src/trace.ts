// Everything that took time, as spans on lanes: of devices, and of threads of the program.
import type { Kernel, Recording } from "./recording";

export interface Span {
  start: number;
  end: number;
  name: string;
  category: "kernel" | "copy" | "compile" | "realize" | "lower" | "pass";
  kernel?: Kernel;
  facts: Record<string, string | number>;
  depth: number;
}
export interface Lane {
  name: string;
  spans: Span[];
  depth: number;
}

export function lanes(recording: Recording): Lane[] {
  const all = new Map<string, Span[]>();
  const add = (lane: string, end: number, seconds: number, span: Omit<Span, "start" | "end" | "depth">) => {
    if (!all.has(lane)) all.set(lane, []);
    all.get(lane)!.push({ ...span, start: end - seconds, end, depth: 0 });
  };
  for (const launch of recording.launches) {
    const kernel = recording.kernels.get(`${launch.name}@${launch.device}`);
    const { flops = 0, bytes = 0, memory = 0 } = launch;
    add(launch.device, launch.t, launch.seconds ?? 0, { name: launch.name, category: "kernel", kernel, facts: { flops, bytes, memory } });
  }
  for (const copy of recording.copies)
    add("copies", copy.t, copy.seconds, { name: `${copy.source} → ${copy.destination}`, category: "copy", facts: { bytes: copy.nbytes } });
  const thread = (id: number) => `thread ${recording.threads.get(id) ?? id}`;
  recording.realizes.forEach((r, i) => add(thread(r.thread), r.t, r.seconds, { name: `realize ${i + 1}`, category: "realize", facts: { kernels: r.kernelCount } }));
  for (const kernel of recording.kernels.values()) {
    const { lower, compile } = kernel;
    if (lower) add(thread(lower.thread), lower.t, lower.seconds, { name: `lower ${kernel.name}`, category: "lower", kernel, facts: {} });
    if (compile && !compile.cached) add("compiler", compile.t, compile.seconds, { name: kernel.name, category: "compile", kernel, facts: { bytes: compile.nbytes } });
  }
  for (const pass of recording.passes) add(thread(pass.thread), pass.t, pass.seconds, { name: pass.name, category: "pass", facts: { rules: pass.rewrites.length } });
  return [...all].map(([name, spans]) => ({ name, spans, depth: stack(spans) }));
}

/** Give each span the first row where it does not overlap another; longer ones come first. Returns the number of rows. */
function stack(spans: Span[]): number {
  spans.sort((a, b) => a.start - b.start || b.end - a.end);
  const ends: number[] = [];
  for (const span of spans) {
    let row = ends.findIndex((end) => end <= span.start + 1e-9);
    if (row < 0) row = ends.length;
    span.depth = row;
    ends[row] = span.end;
  }
  return Math.max(1, ends.length);
}

/** The same for ui.perfetto.dev, in the JSON format of Chrome's tracing. */
export function perfetto(recording: Recording): object {
  const traceEvents: object[] = [];
  lanes(recording).forEach((lane, tid) => {
    traceEvents.push({ ph: "M", name: "thread_name", pid: 1, tid, args: { name: lane.name } });
    for (const span of lane.spans)
      traceEvents.push({ ph: "X", name: span.name, cat: span.category, pid: 1, tid, ts: span.start * 1e6, dur: (span.end - span.start) * 1e6, args: span.facts });
  });
  const used = new Map<string, number>();
  for (const change of recording.memory) {
    used.set(change.device, (used.get(change.device) ?? 0) + change.nbytes);
    traceEvents.push({ ph: "C", name: `memory ${change.device}`, pid: 1, ts: change.t * 1e6, args: { bytes: used.get(change.device)! } });
  }
  return { traceEvents, displayTimeUnit: "ms" };
}
