import { join } from "node:path";
import { placeIn } from "../../cli/commands/exports";
import { InvalidInputError } from "../../core/errors";

describe("where an export's files are put", () => {
  it("is in the directory", () => {
    expect(placeIn("out", "a/model.onnx")).toBe(join("out", "a/model.onnx"));
  });

  it.each(["../up", "a/../../up", "/etc/passwd", "", ".", "a\\..\\up", "a\u0000b"])(
    "never is where %j leads",
    (path) => {
      expect(() => placeIn("out", path)).toThrow(InvalidInputError);
    },
  );
});
