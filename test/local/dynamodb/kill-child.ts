import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createDynamoDb } from "../../../local/dynamodb";

/** A process for the tests to kill. It serves the directory of its first argument and prints its port. */
void (async () => {
  const service = await createDynamoDb({ dataDirectory: process.argv[2]! });
  const server = createServer((request, response) => void service.handle(request, response));
  server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
})();
