/** Extensions that are shown as text (`mlflow/utils/mime_type_utils.py`). */
const texts: ReadonlySet<string> = new Set([
  ...["txt", "log", "err", "cfg", "conf", "cnf", "cf", "ini", "properties", "prop", "hocon", "toml", "yaml", "yml"],
  ...["xml", "json", "js", "py", "py3", "csv", "tsv", "md", "rst", "ipynb", "MLmodel", "mlproject"],
]);

/** The part of Python's `mimetypes` that artifacts use. */
const types: Readonly<Record<string, string>> = {
  avi: "video/x-msvideo",
  bmp: "image/bmp",
  css: "text/css",
  gif: "image/gif",
  h5: "application/x-hdf5",
  hdf: "application/x-hdf",
  htm: "text/html",
  html: "text/html",
  ico: "image/vnd.microsoft.icon",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  mjs: "text/javascript",
  mov: "video/quicktime",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  mpeg: "video/mpeg",
  pdf: "application/pdf",
  png: "image/png",
  svg: "image/svg+xml",
  tar: "application/x-tar",
  tif: "image/tiff",
  tiff: "image/tiff",
  wasm: "application/wasm",
  wav: "audio/x-wav",
  webm: "video/webm",
  webp: "image/webp",
  zip: "application/zip",
};

/** Returns the media type of a file by its name; of a compressed file, that of its content. */
export function mediaTypeOf(name: string): string {
  const extension = extensionOf(name) ?? name;
  if (texts.has(extension)) return "text/plain";
  const unpacked = name.replace(/\.tgz$/i, ".tar.gz").replace(/\.(?:gz|bz2|xz|br|Z)$/, "");
  return types[extensionOf(unpacked)?.toLowerCase() ?? ""] ?? "application/octet-stream";
}

function extensionOf(name: string): string | undefined {
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot + 1) : undefined;
}

/** Builds `Content-Disposition` (RFC 6266): the file is downloaded, never shown as a page of this server. */
export function attachment(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is ASCII
  const ascii = /^[\u0000-\u007f]*$/.test(name);
  if (ascii) return `attachment; filename=${quoted(name)}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is not ASCII
  const plain = name.normalize("NFKD").replaceAll(/[^\u0000-\u007f]/g, "") || "download";
  const encoded = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename=${quoted(plain)}; filename*=UTF-8''${encoded}`;
}

function quoted(text: string): string {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(text) ? text : `"${text.replaceAll(/["\\]/g, "\\$&")}"`;
}
