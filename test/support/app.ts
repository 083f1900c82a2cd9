import { createApp } from "../../api/app";
import type { TestPlatform as Platform } from "./embedded";
import { createTestPlatform, type Embedded, startEmbedded } from "./embedded";

/** Starts the stores and makes the API of the default team's platform on them. */
export async function startTestApp(options: Parameters<typeof createApp>[1] = {}): Promise<{
  readonly embedded: Embedded;
  readonly platform: Platform;
  readonly app: ReturnType<typeof createApp>;
}> {
  const embedded = await startEmbedded();
  const { platform } = createTestPlatform(embedded);
  return { embedded, platform, app: createApp(platform, options) };
}
