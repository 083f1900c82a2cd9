import { MemoryGangStore } from "../../support/memory-gang-store";
import { gangStoreContract } from "./store-contract";

describe("the gang store in memory", () => gangStoreContract(() => new MemoryGangStore()));
