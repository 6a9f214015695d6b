import { layout, type LayoutInput } from "./layout";

onmessage = (event: MessageEvent<{ job: number; input: LayoutInput }>) => {
  postMessage({ job: event.data.job, result: layout(event.data.input) });
};
