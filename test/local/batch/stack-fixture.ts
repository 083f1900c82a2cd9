import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createBatch } from "../../../local/batch";

const [dataDirectory = "", hostPath = ""] = process.argv.slice(2);
const batch = createBatch({ dataDirectory, hostPath, images: { sh: { command: ["/bin/sh", "-c"] } } });
const server = createServer((request, response) => void batch.handle(request, response));
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
