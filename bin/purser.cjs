#!/usr/bin/env node
'use strict'

// Old syntax on purpose: this file must load on any Node, if only to say which one is needed.
var path = require('path')
var launch = require('./launch.cjs')

var root = path.resolve(__dirname, '..')
var entry = launch.isInstalledPackage(root) ? 'dist/main.js' : 'src/main.ts'
launch.launch(root, path.join(root, entry), process.argv.slice(2))
