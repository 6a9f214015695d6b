// The panel on the right: facts and code of what is selected.
import { h, svg } from "./dom";
import { code } from "./highlight";
import type { GraphNode, Kernel, Launch, Pass, Recording, Rule, ScheduledKernel } from "./recording";
import { bytes, count, flops, perSecond, seconds, shortLine } from "./units";

type Fact = [name: string, value: string | Node | undefined | false];

export function facts(rows: Fact[]): HTMLElement {
  const list = h("dl", { class: "facts" });
  for (const [name, value] of rows) if (value) list.append(h("dt", {}, name), h("dd", {}, value));
  return list;
}

function section(title: string, ...children: (Node | string | undefined | false)[]): HTMLElement {
  return h("section", {}, h("h3", {}, title), ...children.filter((child): child is Node | string => Boolean(child)));
}

export function nodeDetails(recording: Recording, node: GraphNode): HTMLElement {
  return section(
    `${node.op}`,
    facts([
      ["dtype", node.dtype],
      ["shape", node.shape && `(${node.shape})`],
      ["bounds", node.bounds],
      ["argument", node.arg],
      ["tag", node.tag],
      ["line", node.line && h("span", { title: node.line }, shortLine(node.line))],
      ["sources", node.src.map((id) => recording.nodes[id].op).join(", ")],
      ["node", `%${node.id}`],
    ]),
  );
}

export function ruleDetails(rule: Rule): HTMLElement {
  return section(
    "Rule",
    facts([
      ["place", rule.place],
      ["applied", `${count(rule.hits, "time")} in this recording`],
    ]),
    rule.source && code(rule.source, "python"),
    rule.pattern && h("h4", {}, "Pattern"),
    rule.pattern && code(rule.pattern, "python"),
  );
}

export function passDetails(pass: Pass, after: number, before: number): HTMLElement {
  return section(
    pass.name,
    facts([
      ["pipeline", pass.pipeline],
      ["time", seconds(pass.seconds)],
      ["rules", count(pass.rewrites.length, "application")],
      ["nodes", before === after ? `${after}` : `${before} → ${after}`],
    ]),
  );
}

export function kernelDetails(recording: Recording, kernel: Kernel, scheduled?: ScheduledKernel): HTMLElement[] {
  const { compile } = kernel;
  const tabs: [string, () => Node][] = [["Launch", () => launchDetails(recording, kernel, scheduled)]];
  if (compile) tabs.push(["Source", () => code(compile.source, "c")]);
  if (kernel.code !== undefined) tabs.push(["Machine code", () => code(kernel.code!, "asm")]);
  if (kernel.lower) tabs.push(["Listing", () => code(kernel.lower!.listing, "text")]);
  return [h("h2", { class: "kernel-name" }, kernel.name), tabbed(tabs)];
}

let lastTab = "Launch";

function tabbed(tabs: [string, () => Node][]): HTMLElement {
  const body = h("div", { class: "tab-body" });
  const bar = h("div", { class: "tabs", role: "tablist" });
  const open = (name: string) => {
    lastTab = name;
    for (const tab of bar.children) tab.setAttribute("aria-selected", String(tab.textContent === name));
    body.replaceChildren(tabs.find(([title]) => title === name)![1]());
  };
  for (const [name] of tabs) bar.append(h("button", { role: "tab", onclick: () => open(name) }, name));
  open(tabs.some(([name]) => name === lastTab) ? lastTab : tabs[0][0]);
  return h("div", { class: "tabbed" }, bar, body);
}

const times = (sizes?: number[]) => (sizes?.length ? sizes.join(" × ") : undefined);

function launchDetails(recording: Recording, kernel: Kernel, scheduled?: ScheduledKernel): HTMLElement {
  const launch = best(kernel);
  const { compile } = kernel;
  const axes = launch?.axes?.map(([size, kind]) => h("span", { class: `axis axis-${kind.toLowerCase()}`, title: kind }, `${size} ${kind.toLowerCase()}`));
  return h(
    "div",
    {},
    facts([
      ["device", kernel.device],
      ["time", launch?.seconds != null && `${seconds(launch.seconds)}, the best of ${count(kernel.launches.length, "launch", "launches")}`],
      ["grid", times(launch?.global_size)],
      ["workgroup", times(launch?.local_size)],
      ["threads", (launch?.threads ?? 1) > 1 && String(launch!.threads)],
      ["work", launch?.flops !== undefined && flops(launch.flops)],
      ["traffic", launch?.bytes !== undefined && bytes(launch.bytes)],
      ["speed", launch?.seconds ? speed(launch) : undefined],
      ["lowered in", kernel.lower && seconds(kernel.lower.seconds)],
      ["compiled in", compile && (compile.cached ? "0 s, from a cache" : seconds(compile.seconds))],
      ["binary", compile && bytes(compile.nbytes)],
    ]),
    axes?.length ? section("Axes", h("div", { class: "axes" }, ...axes)) : null,
    compile?.opts.length ? section("Opts, in order", h("ol", { class: "opts" }, ...compile.opts.map((opt) => h("li", {}, h("code", {}, opt))))) : null,
    roofline(recording, kernel),
    scheduled ? scheduledDetails(recording, scheduled) : null,
  );
}

const speed = (launch: Launch) =>
  `${perSecond((launch.flops ?? 0) / launch.seconds! / 1e9)} GFLOP/s, ${perSecond((launch.bytes ?? 0) / launch.seconds! / 1e9)} GB/s`;

function best(kernel: Kernel): Launch | undefined {
  const timed = kernel.launches.filter((l) => l.seconds);
  return timed.length ? timed.reduce((a, b) => (a.seconds! <= b.seconds! ? a : b)) : kernel.launches[0];
}

export function scheduledDetails(recording: Recording, scheduled: ScheduledKernel): HTMLElement {
  const computed = scheduled.fused.map((id) => recording.nodes[id]).filter((node) => !VIEWS.has(node.op));
  return section(
    "Why it is a kernel",
    h("p", {}, `Its value has memory because ${sentence(scheduled.reason)}${scheduled.detail ? "." : ""}`),
    scheduled.detail && h("p", { class: "quiet" }, `${scheduled.detail}.`),
    h("h4", {}, `Fused: ${count(computed.length, "operation")}`),
    h("div", { class: "ops" }, ...computed.map((node) => h("span", { class: "op", title: node.line ?? "" }, node.op))),
    scheduled.lines.length > 0 && h("h4", {}, "Lines of the program"),
    h("ul", { class: "lines" }, ...scheduled.lines.map((line) => h("li", { title: line }, shortLine(line)))),
  );
}

const sentence = (reason: string) => reason.replace(/^its value was asked for$/, "it was asked for");
export const VIEWS = new Set("RESHAPE EXPAND PERMUTE FLIP PAD SHRINK BUFFER CONST AFTER DEFINE_VAR BIND CONTIGUOUS".split(" "));

/** Speed over intensity, both logarithmic, of all kernels of a device; this one stands out. */
function roofline(recording: Recording, kernel: Kernel): HTMLElement | null {
  const points = [...recording.kernels.values()].flatMap((k) => {
    const launch = k.device === kernel.device ? best(k) : undefined;
    if (!launch?.seconds || !launch.flops || !launch.bytes) return [];
    return [{ k, intensity: launch.flops / launch.bytes, speed: launch.flops / launch.seconds, rate: launch.bytes / launch.seconds }];
  });
  const own = points.find((p) => p.k === kernel);
  if (!own) return null;
  const [width, height, left, bottom, margin] = [320, 184, 44, 38, 10];
  const most = Math.max(...points.map((p) => p.speed));
  const rate = Math.max(...points.map((p) => p.rate));
  const ridge = most / rate;
  const low = Math.log10(Math.min(...points.map((p) => p.intensity), ridge)) - 0.4;
  const high = Math.log10(Math.max(...points.map((p) => p.intensity), ridge)) + 0.4;
  const bottomSpeed = Math.log10(Math.min(...points.map((p) => p.speed), rate * 10 ** low)) - 0.2;
  const top = Math.log10(most) + 0.3;
  const x = (intensity: number) => left + ((Math.log10(intensity) - low) / (high - low)) * (width - left - margin);
  const y = (value: number) => height - bottom - ((Math.log10(value) - bottomSpeed) / (top - bottomSpeed)) * (height - bottom - margin);
  const roof = `M${x(10 ** low)},${y(rate * 10 ** low)} L${x(ridge)},${y(most)} L${x(10 ** high)},${y(most)}`;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "roofline", role: "img" });
  picture.append(
    svg("line", { x1: left, x2: width - margin, y1: height - bottom, y2: height - bottom, class: "axis-line" }),
    svg("line", { x1: left, x2: left, y1: margin, y2: height - bottom, class: "axis-line" }),
    svg("path", { d: roof, class: "roof" }),
    svg("text", { x: width - margin, y: height - 6, "text-anchor": "end" }, "FLOP / byte"),
    svg("text", { x: left + 6, y: margin + 9 }, "GFLOP/s"),
  );
  for (let power = Math.ceil(low); power <= high; power++)
    picture.append(svg("text", { x: x(10 ** power), y: height - bottom + 13, "text-anchor": "middle" }, `${10 ** power}`));
  for (let power = Math.ceil(bottomSpeed); power <= top; power++)
    picture.append(svg("text", { x: left - 5, y: y(10 ** power) + 4, "text-anchor": "end" }, `${10 ** (power - 9) < 0.01 ? `1e${power - 9}` : 10 ** (power - 9)}`));
  for (const point of points)
    picture.append(
      svg(
        "circle",
        { cx: x(point.intensity), cy: y(point.speed), r: point === own ? 6 : 3.5, class: point === own ? "own" : "other" },
        svg("title", {}, `${point.k.name}: ${perSecond(point.speed / 1e9)} GFLOP/s, ${point.intensity.toPrecision(3)} FLOP/byte`),
      ),
    );
  picture.append(picture.querySelector("circle.own")!);
  return section("Roofline", picture, h("p", { class: "quiet" }, "The roof is the best speed and traffic that this recording saw on the device."));
}
