import type { Platform } from "../../adapters/platform";
import { registerView } from "../../core/feature-store/registry";
import { type BatchDraft, viewDefinition } from "../../core/feature-store/shapes";
import { registerBatch } from "../../core/feature-store/stream";

export const spendView = {
  ...{ name: "spend", owner: "growth", entities: ["customer"], eventTime: "at" },
  columns: { customer: "int", at: "timestamp", spend: "float" },
} as const;

const day = "2026-01-01";

export const fileOf = (sha256: string, bytes: number) => ({ sha256, bytes, rows: 1, from: day, to: day });

/** Registers a view with a batch whose content is not read. Returns the batch. */
export async function createStoredView(platform: Platform, name: string): Promise<BatchDraft> {
  const definition = viewDefinition.parse({ ...spendView, name });
  await registerView(platform, definition, { allowIncompatible: false, by: "test" });
  const { sha256, bytes } = await platform.objects.putContent(`rows of ${name} of ${platform.team}`);
  const draft = { generation: 1, rows: 1, latestTime: `${day}T00:00:00.000Z`, files: [fileOf(sha256, bytes)] };
  await registerBatch(platform, name, draft, "test");
  return draft;
}
