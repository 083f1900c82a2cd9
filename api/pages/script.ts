/** What pages have beside the report's script: runs that are ticked are compared, digests that are clicked are marked to be copied. */
export const pageScript = `
{
  const compare = document.querySelector("[data-compare]");
  if (compare) {
    const boxes = [...document.querySelectorAll("input[name=pick]")];
    const update = () => {
      const picked = boxes.filter((box) => box.checked).map((box) => box.value);
      compare.textContent = picked.length === 0 ? compare.dataset.all : "compare " + picked.length + " selected";
      compare.href = picked.length === 0 ? compare.dataset.href : compare.dataset.compare + encodeURIComponent(JSON.stringify(picked));
    };
    for (const box of boxes) box.addEventListener("change", update);
    // A page that the browser goes back to keeps its ticks.
    addEventListener("pageshow", update);
  }
  for (const code of document.querySelectorAll("code.whole")) {
    code.addEventListener("click", () => getSelection().selectAllChildren(code));
  }
}
`;
