import { createIam } from "../../stack/iam";
import { localWorld } from "../../stack/settings";

export const testIam = createIam({ world: localWorld(), secret: "test" });

export const ownerEnvironment = {
  AWS_ACCESS_KEY_ID: testIam.owner.accessKeyId,
  AWS_SECRET_ACCESS_KEY: testIam.owner.secretAccessKey,
} as const;
