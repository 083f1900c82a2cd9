#!/usr/bin/env node
const path = require("node:path");
const { ensureBuild } = require("../scripts/build.js");
const bundles = ensureBuild();
require(path.join(bundles, "preload.js"));
require(path.join(bundles, "cli.js"));
