import { createMemoryObjectStore } from "./memory-object-store";
import { objectStoreContract } from "./object-store-contract";

objectStoreContract("in memory", async () => createMemoryObjectStore());
