/** Tries to read and to write an address from a page, in every way that a browser has. Answers what the page could read. */
module.exports = async (url, body) => {
  const read = [];
  const text = async (options) => read.push(await (await fetch(url, options)).text());
  const loading = (tag, change) =>
    new Promise((done) => {
      const element = Object.assign(document.createElement(tag), {
        onload: () => done(true),
        onerror: () => done(false),
      });
      change(element);
      document.body.append(element);
    });
  const attempts = [
    () => text({}),
    () => text({ credentials: "include" }),
    () => text({ method: "POST", headers: { "x-amz-target": "DynamoDB_20120810.PutItem" }, body }),
    () => text({ method: "POST", headers: { "content-type": "application/json" }, body }),
    () => text({ method: "POST", mode: "no-cors", credentials: "include", body }),
    () => text({ method: "PUT", body }),
    () => text({ method: "DELETE" }),
    async () => navigator.sendBeacon(url, body),
    () => {
      const name = `frame${Math.random()}`;
      const input = Object.assign(document.createElement("input"), {
        // Name, sign of equality and value are one JSON text together.
        name: `${body.slice(0, -1)}${body.length > 2 ? "," : ""}"x":"`,
        value: '"}',
      });
      const form = Object.assign(document.createElement("form"), {
        action: url,
        method: "post",
        enctype: "text/plain",
        target: name,
      });
      form.append(input);
      const sent = loading("iframe", (frame) => Object.assign(frame, { name }));
      document.body.append(form);
      form.submit();
      return sent;
    },
    ...["img", "script", "link", "video", "iframe", "embed", "object"].map((tag) => async () => {
      const place = { link: "href", object: "data" }[tag] ?? "src";
      const loaded = await loading(tag, (element) => Object.assign(element, { [place]: url, rel: "stylesheet" }));
      if (loaded && ["img", "script", "link"].includes(tag)) read.push(`${tag} loaded`);
    }),
    () =>
      new Promise((done) => {
        const source = `try { importScripts(${JSON.stringify(url)}); postMessage(1); } catch { postMessage(0); }`;
        const worker = new Worker(URL.createObjectURL(new Blob([source])));
        worker.onmessage = ({ data }) => done(data === 1 && read.push("a worker imported it"));
      }),
    () =>
      new Promise((done) => {
        const socket = new WebSocket(url.replace("http", "ws"));
        socket.onopen = () => done(read.push("a socket opened"));
        socket.onerror = done;
      }),
  ];
  const patience = () => new Promise((over) => setTimeout(over, 1_500));
  await Promise.all(attempts.map((attempt) => Promise.race([attempt().catch(() => undefined), patience()])));
  return read.filter((found) => found !== "");
};
