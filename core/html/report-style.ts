/**
 * The style of the report. The runs' colours are distinguishable without red-green vision, on light and on dark
 * backgrounds.
 */
export const reportStyle = `
:root { color-scheme: light dark; --ground: #fff; --text: #1c2024; --faint: #667; --line: #d8dce2; --head: #f5f6f8; --good: #0a7d38;
  --c0: #1f6fb4; --c1: #d9660b; --c2: #148a6a; --c3: #b3378c; --c4: #7a5cc4; --c5: #8a6d00; --c6: #0f8fa8; --c7: #c4314b; --c8: #5a6b7b; --c9: #6b8e1f; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #14171b; --text: #e6e9ee; --faint: #98a2b0; --line: #343b45; --head: #1d2228; --good: #56d68a;
    --c0: #63b0f2; --c1: #ff9c4a; --c2: #43cfa6; --c3: #ef7fc9; --c4: #ad95f5; --c5: #dcb83b; --c6: #4cc8e0; --c7: #ff7d8f; --c8: #a4b3c2; --c9: #aed155; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 24px; max-width: 1360px; background: var(--ground); color: var(--text); font: 14px/1.45 system-ui, sans-serif; }
h1 { font-size: 22px; margin: 0 0 4px; } h2 { font-size: 17px; margin: 32px 0 10px; } small, .faint { color: var(--faint); font-weight: normal; }
code, td, .values, .tick { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 12.5px; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; padding: 10px 0; } .legend label { cursor: pointer; white-space: nowrap; }
.swatch { display: inline-block; vertical-align: middle; width: 22px; height: 10px; } .swatch path { fill: none; stroke: currentColor; stroke-width: 3; }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; }
table { border-collapse: collapse; width: 100%; } th, td { padding: 5px 12px; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; min-width: 96px; max-width: 340px; overflow-wrap: break-word; }
tbody th, thead th:first-child { min-width: 170px; }
tr:last-child > * { border-bottom: 0; } thead th { background: var(--head); } tbody th { font-weight: 500; position: sticky; left: 0; background: var(--ground); }
td.number { white-space: nowrap; } td.best { color: var(--good); font-weight: 700; } td .delta { color: var(--faint); font-weight: normal; margin-left: 8px; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 560px), 1fr)); gap: 18px; } .small { grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr)); }
.plot { margin: 0; position: relative; } .wide { overflow-x: auto; } .wide svg { min-width: 620px; } .parallel svg { min-width: 900px; } .plot svg { width: 100%; height: auto; display: block; } figcaption { font-weight: 600; overflow-wrap: anywhere; }
.grid { stroke: var(--line); stroke-width: 1; } .axis { stroke: var(--faint); stroke-width: 1; } .tick { fill: var(--faint); font-size: 11px; } .title { fill: var(--text); font-size: 12px; text-anchor: middle; } .left { paint-order: stroke; stroke: var(--ground); stroke-width: 3px; }
.tick.x { text-anchor: middle; } .tick.y { text-anchor: end; } .cursor { stroke: var(--faint); visibility: hidden; } .cursor.on { visibility: visible; }
.run path { fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linejoin: round; } .run circle { fill: currentColor; stroke: var(--ground); stroke-width: 1; }
.run:hover path { stroke-width: 3.4; }
.d1 path { stroke-dasharray: 7 3; } .d2 path { stroke-dasharray: 2 3; } .d3 path { stroke-dasharray: 9 3 2 3; } .d4 path { stroke-dasharray: 14 5; }
.values { position: absolute; z-index: 1; pointer-events: none; background: var(--head); border: 1px solid var(--line); border-radius: 4px; padding: 6px 8px; white-space: nowrap; }
.values div::before { content: ""; display: inline-block; width: 9px; height: 9px; margin-right: 6px; background: currentColor; } .values span { color: var(--text); } .values p { margin: 0 0 2px; color: var(--faint); }
${Array.from({ length: 10 }, (_, i) => `.c${i} { color: var(--c${i}); }`).join(" ")}
${Array.from({ length: 50 }, (_, i) => `.hide-${i} .r${i} { display: none; }`).join(" ")}
@media print { body { max-width: none; padding: 0; } .plot, table { break-inside: avoid; } .legend input { display: none; } }
`;
