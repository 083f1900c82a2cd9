/**
 * The script of the report: selects the shown runs, and shows the values under the pointer. The page works without it.
 * Text is set as text, never as markup.
 */
export const reportScript = `
"use strict";
const names = [...document.querySelectorAll(".legend label")].map((label) => label.dataset.name);
for (const box of document.querySelectorAll(".legend input")) {
  box.addEventListener("change", () => document.body.classList.toggle("hide-" + box.value, !box.checked));
}
const shown = (run) => !document.body.classList.contains("hide-" + run);
const text = (value) => (value === null ? "–" : String(Number(value.toPrecision(5))));
for (const figure of document.querySelectorAll("figure.curve")) {
  const svg = figure.querySelector("svg");
  const cursor = figure.querySelector(".cursor");
  const values = figure.querySelector(".values");
  const data = JSON.parse(figure.querySelector("script").textContent);
  const leave = () => { values.hidden = true; cursor.classList.remove("on"); };
  svg.addEventListener("pointerleave", leave);
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const pixel = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
    let nearest;
    for (const series of data.series) {
      if (!shown(series.run)) continue;
      const index = nearestIndex(series.at, pixel);
      if (nearest === undefined || Math.abs(series.at[index] - pixel) < Math.abs(nearest.at - pixel)) nearest = { at: series.at[index], x: series.x[index] };
    }
    if (nearest === undefined || pixel < data.left - 8 || pixel > data.right + 8) return leave();
    const title = document.createElement("p");
    title.textContent = data.axis === "time" ? new Date(nearest.x).toISOString() : data.axis + " " + text(nearest.x);
    const lines = data.series.filter((series) => shown(series.run)).slice(0, 20).map((series) => {
      const line = document.createElement("div");
      line.className = "c" + (series.run % 10);
      const label = document.createElement("span");
      label.textContent = text(series.y[nearestIndex(series.at, nearest.at)]) + "  " + names[series.run];
      line.append(label);
      return line;
    });
    values.replaceChildren(title, ...lines);
    values.hidden = false;
    cursor.setAttribute("x1", nearest.at);
    cursor.setAttribute("x2", nearest.at);
    cursor.classList.add("on");
    const x = (nearest.at / svg.viewBox.baseVal.width) * box.width;
    const left = x < box.width / 2 ? x + 14 : x - values.offsetWidth - 14;
    values.style.left = Math.max(0, left) + "px";
    values.style.top = "36px";
  });
}
function nearestIndex(at, pixel) {
  let low = 0, high = at.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at[middle] < pixel) low = middle + 1; else high = middle;
  }
  return low > 0 && pixel - at[low - 1] < at[low] - pixel ? low - 1 : low;
}
`;
