#!/usr/bin/env node
const path = require("node:path");
// The version of Node is checked by package.json's engines; the SDK's warning would be on every command's stderr.
process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] ??= "true";
const { ensureBuild } = require("../scripts/build.js");
const bundles = ensureBuild();
require(path.join(bundles, "preload.js"));
require(path.join(bundles, "cli.js"));
