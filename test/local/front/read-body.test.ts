import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { BodyTooLarge, readBody } from "../../../local/wire";

const requestOf = (...chunks: readonly string[]): IncomingMessage => {
  const request = new IncomingMessage(new Socket());
  for (const chunk of chunks) request.push(chunk);
  return request;
};

describe("readBody", () => {
  it.each([[[]], [["one"]], [["one", "two"]]])("returns the bytes of %j", async (chunks) => {
    const request = requestOf(...chunks);
    request.push(null);
    expect((await readBody(request, 6)).toString()).toBe(chunks.join(""));
    expect((await readBody(request, 6)).toString()).toBe("");
  });

  it("reads a body that is too large to its end, and refuses it", async () => {
    const request = requestOf("one", "two", "three");
    request.push(null);
    await expect(readBody(request, 6)).rejects.toThrow(BodyTooLarge);
    expect(request.readableEnded).toBe(true);
  });

  it.each([
    ["while it is read", false],
    ["before it is read", true],
  ])("fails if the client disconnects %s", async (_when, isBefore) => {
    const request = requestOf("one");
    if (isBefore) request.destroy();
    const read = readBody(request, 6);
    if (!isBefore) request.destroy();
    await expect(read).rejects.toThrow("the client closed the connection within its request");
  });
});
