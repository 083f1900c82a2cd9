/** Light and dark by the reader's own setting; no fonts, no images, nothing from elsewhere. */
export const style = `
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--line:#d0d7de;--paper:#fff;--field:#f6f8fa;--link:#0550ae;--good:#116329;--bad:#a40e26}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9198a1;--line:#30363d;--paper:#0d1117;--field:#161b22;--link:#79c0ff;--good:#56d364;--bad:#ff7b72}}
*{box-sizing:border-box}
body{margin:0;display:grid;grid-template-columns:19rem minmax(0,1fr);font:15px/1.55 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1rem;border-right:1px solid var(--line);background:var(--field)}
nav h2{margin:1rem 0 .25rem;font-size:.8rem;text-transform:uppercase;letter-spacing:.05em;color:var(--soft)}
nav ul{list-style:none;margin:0;padding:0}
nav li a{display:block;padding:.15rem 0;color:var(--ink)}
input{width:100%;padding:.45rem .6rem;font:inherit;color:inherit;background:var(--paper);border:1px solid var(--line);border-radius:6px}
main{padding:1.5rem 2.5rem 6rem;max-width:60rem}
a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
a:focus-visible,input:focus-visible,summary:focus-visible{outline:2px solid var(--link);outline-offset:2px}
h1{margin:.2rem 0}h2{margin-top:2.5rem}h3{margin:0 0 .3rem}h3 a{color:inherit}h4{margin:1.1rem 0 .3rem;font-size:.9rem;color:var(--soft)}
article{padding:1.2rem 0;border-top:1px solid var(--line);scroll-margin-top:1rem}
code,pre{font:13px/1.5 ui-monospace,monospace}
code{overflow-wrap:anywhere}
pre{margin:.4rem 0;padding:.7rem .9rem;overflow:auto;background:var(--field);border:1px solid var(--line);border-radius:6px}
.method{display:inline-block;min-width:3.6em;padding:0 .4em;border-radius:4px;text-align:center;font:700 12px/1.6 ui-monospace,monospace;color:#fff;background:#57606a}
.method.get{background:#0550ae}.method.post{background:#116329}.method.put,.method.patch{background:#7d4e00}.method.delete{background:#a40e26}
.members{margin:.3rem 0;padding-left:1.1rem;list-style:none;border-left:2px solid var(--line)}
.members li{padding:.1rem 0}
.optional,.place,.rules,.words,.note,.type{color:var(--soft)}.place{font-size:.85em}
.answer{margin:.35rem 0}.status{font:700 13px ui-monospace,monospace}.good>.status{color:var(--good)}.bad>.status{color:var(--bad)}
[hidden]{display:none}
@media(max-width:52rem){body{display:block}nav{position:static;height:auto;border-right:0;border-bottom:1px solid var(--line)}main{padding:1rem}}
`;

/** The search: hides what does not have every word. Without it the page is whole, only longer. */
export const script = `
const field=document.querySelector("input");
const hits=[...document.querySelectorAll("[data-search]")];
field.hidden=false;
field.addEventListener("input",()=>{
  const words=field.value.toLowerCase().split(/\\s+/).filter(Boolean);
  for(const hit of hits)hit.hidden=!words.every((word)=>hit.dataset.search.includes(word));
  for(const group of document.querySelectorAll("[data-group]"))
    group.hidden=words.length>0&&![...group.querySelectorAll("[data-search]")].some((hit)=>!hit.hidden);
});
document.addEventListener("keydown",(event)=>{
  if(event.key==="/"&&document.activeElement!==field){event.preventDefault();field.focus();}
});
`;
