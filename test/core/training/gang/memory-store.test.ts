import { MemoryGangStore } from "../../../../core/training/gang/memory-store";
import { gangStoreContract } from "./store-contract";

describe("the gang store in memory", () => gangStoreContract(() => new MemoryGangStore()));
