'use strict'

// Runs a file of this repository on the required version of Node: node scripts/run.cjs FILE [ARGUMENT…]
var path = require('path')
var launch = require('../bin/launch.cjs')

var root = path.resolve(__dirname, '..')
launch.launch(root, path.resolve(root, process.argv[2]), process.argv.slice(3))
