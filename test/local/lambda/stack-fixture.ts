import { createLambda } from "../../../local/lambda";

const [bundle = "", dataDirectory = "", runtimePath = ""] = process.argv.slice(2);
const lambda = createLambda({
  functions: [{ name: "f", bundle, timeoutSeconds: 900 }],
  dataDirectory,
  runtimePath,
  logs: {
    append(_group, _stream, events) {
      for (const { message } of events) process.send?.(message);
    },
  },
});
void lambda.invoke("f", {});
