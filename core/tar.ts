/** Archives of folders in the format ustar: equal files give equal bytes. */

const block = 512;

/** Returns the header of a file. Times and owners are constant. @throws RangeError if the path is too long */
export function tarHeader(path: string, bytes: number): Uint8Array {
  const header = Buffer.alloc(block);
  const whole = Buffer.from(path);
  const slash = whole.length <= 100 ? -1 : whole.indexOf("/", whole.length - 101);
  if (whole.length > 100 && (slash < 1 || slash > 155))
    throw new RangeError(`the path ${path} is too long to be packed`);
  whole.copy(header, 0, slash + 1);
  if (slash > 0) whole.copy(header, 345, 0, slash);
  const octal = (value: number, at: number, length: number) =>
    header.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at, "latin1");
  octal(0o644, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(bytes, 124, 12);
  octal(0, 136, 12);
  header.write("        0", 148, "latin1");
  header.write("ustar\x0000", 257, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return header;
}

/** Zeros between a file's bytes and the next header. */
export const tarPadding = (bytes: number): Uint8Array => new Uint8Array((block - (bytes % block)) % block);

/** The end of an archive. */
export const tarEnd = (): Uint8Array => new Uint8Array(2 * block);

/** Yields the files of an archive that `tarHeader` made. */
export function* tarFiles(archive: Uint8Array): Generator<{ readonly path: string; readonly body: Uint8Array }> {
  const text = (at: number, length: number) =>
    Buffer.from(archive.subarray(at, at + length))
      .toString()
      .replace(/\0.*$/s, "");
  for (let at = 0; archive[at]; ) {
    const [name, prefix] = [text(at, 100), text(at + 345, 155)];
    const bytes = Number.parseInt(text(at + 124, 12), 8);
    const body = archive.subarray(at + block, at + block + bytes);
    yield { path: prefix === "" ? name : `${prefix}/${name}`, body };
    at += block + bytes + tarPadding(bytes).length;
  }
}

/** Whether a path stays in the folder that it is relative to. */
export const isInside = (path: string): boolean =>
  path !== "" && !path.startsWith("/") && path.split("/").every((part) => part !== ".." && part !== "." && part !== "");
