import { readFileSync } from "node:fs";
import { edits } from "../../bench/checksums/copy";

describe("the copy without checksums", () => {
  it.each(edits)("leaves out code that is in $file once: $from", ({ file, from }) => {
    expect(readFileSync(file, "utf8").split(from)).toHaveLength(2);
  });
});
