import fs from "node:fs";
import path from "node:path";
import { AssetHashType, DockerImage, FileSystem } from "aws-cdk-lib";
import { type AssetCode, Code } from "aws-cdk-lib/aws-lambda";
import type { FunctionName } from "../../platform/functions";

/** An image that is never run: assets are assembled on this machine without Docker. */
const unusedImage = DockerImage.fromRegistry("scratch");

/** An asset that `fill` assembles in an empty directory. `name` distinguishes those of one source, which CDK caches. */
export function assembled(name: string, source: string, fill: (directory: string) => void): AssetCode {
  return Code.fromAsset(source, {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      image: unusedImage,
      command: [name],
      local: {
        tryBundle(directory) {
          fill(directory);
          return !FileSystem.isEmpty(directory);
        },
      },
    },
  });
}

/** A function's code: the bundle that also runs locally, with its source map. @throws Error without a handler */
export function functionCode(bundles: string, name: FunctionName): AssetCode {
  const folder = path.join(bundles, "lambdas");
  const bundle = path.join(folder, `${name}.js`);
  if (!fs.existsSync(bundle)) {
    throw new Error(
      `platform/functions.ts names the function "${name}", but the build has no ${bundle}: is there a lambdas/${name}/handler.ts?`,
    );
  }
  return assembled(name, folder, (directory) => {
    fs.copyFileSync(bundle, path.join(directory, "handler.js"));
    if (fs.existsSync(`${bundle}.map`)) fs.copyFileSync(`${bundle}.map`, path.join(directory, `${name}.js.map`));
  });
}
