import fs from "node:fs";
import path from "node:path";
import { AssetHashType, DockerImage, FileSystem } from "aws-cdk-lib";
import { type AssetCode, Code } from "aws-cdk-lib/aws-lambda";
import type { FunctionName } from "../../platform/functions";

/** Never run: everything is put together on this machine, without Docker. */
const unusedImage = DockerImage.fromRegistry("scratch");

/**
 * An asset that `fill` puts together in an empty directory; known by its content, so what did not change is not deployed again.
 * @param name tells assets from the same source apart: CDK keeps the result of one and the same bundling, and does not look into `fill`
 */
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

/**
 * A function's code: the very bundle that runs on one machine, with its source map.
 * @param bundles the build's directory (`scripts/build.js`)
 * @throws Error where the function has no handler
 */
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
