// A recording as objects that refer to each other.

export interface GraphNode {
  id: number;
  op: string;
  dtype: string;
  src: number[];
  arg?: string;
  shape?: string;
  bounds?: string;
  tag?: string;
  line?: string;
}
export interface Rule {
  id: number;
  place: string;
  pattern: string;
  source: string;
  /** Calls of its function; 0 where the recording has no times. */
  tries: number;
  hits: number;
  seconds: number;
}
/** All runs of a pass; `hits` are those that changed the graph. */
export interface PassTime {
  pipeline: string;
  name: string;
  tries: number;
  hits: number;
  seconds: number;
}
export interface Rewrite {
  t: number;
  rewrite: string;
  rule: Rule;
  before: number;
  after: number;
}
export interface Pass {
  t: number;
  thread: number;
  pipeline: string;
  name: string;
  seconds: number;
  before: number;
  after: number;
  rewrites: Rewrite[];
}
export interface Launch {
  t: number;
  name: string;
  device: string;
  seconds: number | null;
  global_size?: number[];
  local_size?: number[];
  threads?: number;
  flops?: number;
  bytes?: number;
  memory?: number;
  axes?: [string, string][];
  replayed?: boolean;
}
export interface Kernel {
  name: string;
  device: string;
  passes: Pass[];
  launches: Launch[];
  lower?: { t: number; thread: number; seconds: number; ast: number; listing: string };
  compile?: { t: number; thread: number; seconds: number; source: string; opts: string[]; nbytes: number; cached: boolean };
  code?: string;
}
export interface ScheduledKernel {
  root: number;
  ast: number;
  device: string;
  reads: number[];
  fused: number[];
  operations: number;
  reason: string;
  detail: string;
  lines: string[];
}
export interface Copy {
  t: number;
  thread: number;
  source: string;
  destination: string;
  nbytes: number;
  seconds: number;
}
export interface Realize {
  t: number;
  thread: number;
  seconds: number;
  kernelCount: number;
  copyCount: number;
  devices: string[];
  passes: Pass[];
  schedules: ScheduledKernel[][];
  kernels: Kernel[];
  launches: Launch[];
}
export interface MemoryChange {
  t: number;
  device: string;
  address: number;
  nbytes: number;
  label: string;
}
export interface Recording {
  program: string;
  time: string;
  version: string;
  nodes: GraphNode[];
  rules: Rule[];
  passes: Pass[];
  passTimes: PassTime[];
  kernels: Map<string, Kernel>;
  /** By the number of the graph that was lowered; several graphs may become one kernel. */
  lowered: Map<number, Kernel>;
  realizes: Realize[];
  copies: Copy[];
  launches: Launch[];
  memory: MemoryChange[];
  threads: Map<number, string>;
  dropped: Record<string, number>;
  isComplete: boolean;
}

const VERSION = 2;
const isDuring = (t: number, end: number, seconds: number) => t >= end - seconds - 1e-6;

export function parse(text: string): Recording {
  const lines = text.split("\n");
  const header = JSON.parse(lines[0]);
  if (header.kind !== "plugrad-recording" || header.version !== VERSION)
    throw new Error(`this page reads recordings of version ${VERSION}, not ${header.kind} ${header.version}`);
  const out: Recording = {
    program: header.program.join(" "),
    time: header.time,
    version: header.plugrad,
    nodes: [],
    rules: [],
    passes: [],
    passTimes: [],
    kernels: new Map(),
    lowered: new Map(),
    realizes: [],
    copies: [],
    launches: [],
    memory: [],
    threads: new Map(),
    dropped: {},
    isComplete: false,
  };
  const builder = new Builder(out);
  for (let i = 1; i < lines.length; i++) {
    // the last line of a program that was killed may be cut
    if (!lines[i].endsWith("}")) continue;
    builder.add(JSON.parse(lines[i]));
  }
  if (!out.passTimes.length) out.passTimes = timesOf(out.passes);
  out.realizes.sort((a, b) => a.t - a.seconds - (b.t - b.seconds));
  return out;
}

/** Return the times of passes where the program was killed before it wrote them. */
function timesOf(passes: Pass[]): PassTime[] {
  const times = new Map<string, PassTime>();
  for (const { pipeline, name, seconds, before, after } of passes) {
    const key = `${pipeline} ${name}`;
    const row = times.get(key) ?? { pipeline, name, tries: 0, hits: 0, seconds: 0 };
    times.set(key, row);
    row.tries += 1;
    row.hits += Number(before !== after);
    row.seconds += seconds;
  }
  return [...times.values()];
}

/** Gathers what has no owner yet, until the record of its owner comes: that is written when it has ended. */
class Builder {
  private rewrites = new Map<number, Rewrite[]>();
  private passes = new Map<number, Pass[]>();
  private schedules = new Map<number, { t: number; kernels: ScheduledKernel[] }[]>();
  private launches: Launch[] = [];

  constructor(private out: Recording) {}

  add(r: any): void {
    const { out } = this;
    switch (r.kind) {
      case "node":
        out.nodes[r.id] = r;
        break;
      case "rule":
        out.rules[r.id] = { ...r, tries: 0, hits: 0, seconds: 0 };
        break;
      case "thread":
        out.threads.set(r.id, r.name);
        break;
      case "rewrite": {
        const rule = out.rules[r.rule];
        rule.hits += 1;
        this.waiting(this.rewrites, r.thread).push({ ...r, rule });
        break;
      }
      case "pass": {
        const rewrites = this.take(this.rewrites, r.thread, r);
        const pass: Pass = { ...r, rewrites };
        out.passes.push(pass);
        this.waiting(this.passes, r.thread).push(pass);
        break;
      }
      case "schedule":
        this.waiting(this.schedules, r.thread).push(r);
        break;
      case "lower": {
        const kernel = this.kernel(r);
        kernel.lower = r;
        kernel.passes = this.take(this.passes, r.thread, r);
        this.out.lowered.set(r.ast, kernel);
        break;
      }
      case "compile":
        this.kernel(r).compile = r;
        break;
      case "machine_code":
        this.kernel(r).code = r.text;
        break;
      case "launch":
        this.kernel(r).launches.push(r);
        out.launches.push(r);
        this.launches.push(r);
        break;
      case "copy":
        out.copies.push(r);
        break;
      case "memory":
        out.memory.push(r);
        break;
      case "realize":
        this.realize(r);
        break;
      case "rule_time": {
        const { tries, hits, seconds } = r;
        Object.assign(out.rules[r.rule], { tries, hits, seconds });
        break;
      }
      case "pass_time":
        out.passTimes.push(r);
        break;
      case "end":
        out.dropped = r.dropped;
        out.isComplete = true;
    }
  }

  private realize(r: any): void {
    const launches = this.launches.filter((l) => isDuring(l.t, r.t, r.seconds));
    this.launches = [];
    const schedules = this.take(this.schedules, r.thread, r).map((s) => s.kernels);
    const scheduled = schedules.flat().map((k) => this.out.lowered.get(k.ast));
    const launched = launches.map((l) => this.kernel(l));
    this.out.realizes.push({
      t: r.t,
      thread: r.thread,
      seconds: r.seconds,
      kernelCount: r.kernels,
      copyCount: r.copies,
      devices: r.devices,
      passes: this.take(this.passes, r.thread, r).filter((p) => p.pipeline === "schedule"),
      schedules,
      kernels: [...new Set([...launched, ...scheduled.filter((k) => k !== undefined)])],
      launches,
    });
  }


  private kernel(r: { name: string; device: string }): Kernel {
    const key = `${r.name}@${r.device}`;
    let kernel = this.out.kernels.get(key);
    if (!kernel) {
      kernel = { name: r.name, device: r.device, passes: [], launches: [] };
      this.out.kernels.set(key, kernel);
    }
    return kernel;
  }

  private waiting<T>(where: Map<number, T[]>, thread: number): T[] {
    let found = where.get(thread);
    if (!found) where.set(thread, (found = []));
    return found;
  }

  /** Return what waits on a thread and happened during `owner`; what is older waits on. */
  private take<T extends { t: number }>(where: Map<number, T[]>, thread: number, owner: { t: number; seconds: number }): T[] {
    const found = this.waiting(where, thread);
    let first = found.length;
    while (first > 0 && isDuring(found[first - 1].t, owner.t, owner.seconds)) first -= 1;
    return found.splice(first);
  }
}

export function reachable(recording: Recording, root: number): Set<number> {
  const seen = new Set<number>();
  const todo = [root];
  while (todo.length) {
    const id = todo.pop()!;
    if (seen.has(id)) continue;
    seen.add(id);
    todo.push(...recording.nodes[id].src);
  }
  return seen;
}
