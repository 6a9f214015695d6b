// One page that holds everything: it is served as it is, and copied with a recording inside to be sent around.
import { defineConfig, type Plugin } from "vite";

function inlineEverything(): Plugin {
  return {
    name: "inline-everything",
    enforce: "post",
    generateBundle(_, bundle) {
      const page = bundle["index.html"];
      if (page?.type !== "asset") throw new Error("there is no index.html");
      let html = String(page.source);
      for (const [name, item] of Object.entries(bundle)) {
        if (item.type === "chunk") {
          const code = item.code.replaceAll("</script", "<\\/script");
          html = html.replace(/<script type="module"[^>]*><\/script>/, "");
          html = html.replace("</body>", () => `<script type="module">${code}</script></body>`);
        } else if (name.endsWith(".css")) {
          html = html.replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${item.source}</style>`);
        } else continue;
        delete bundle[name];
      }
      page.source = html;
      page.fileName = "page.html";
    },
  };
}

export default defineConfig({
  base: "./",
  build: {
    outDir: "../src/plugrad_viz/built",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    chunkSizeWarningLimit: 2000,
    rolldownOptions: { output: { codeSplitting: false } },
  },
  worker: { format: "iife" },
  plugins: [inlineEverything()],
});
