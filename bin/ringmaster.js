#!/usr/bin/env node
const path = require("node:path");
const { ensureBuild } = require("../scripts/build.js");
require(path.join(ensureBuild(), "cli.js"));
