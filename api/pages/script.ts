/**
 * The script of pages in addition to the report's: compares the selected runs, and selects a digest for copying at a
 * click.
 */
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
    // A page that the browser returns to keeps its selection.
    addEventListener("pageshow", update);
  }
  for (const code of document.querySelectorAll("code.whole")) {
    code.addEventListener("click", () => getSelection().selectAllChildren(code));
  }
}
`;
