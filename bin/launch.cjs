'use strict'

// Old syntax on purpose: this file must load on any Node, if only to say which one is needed.
var path = require('path')
var basics = require('./basics.cjs')

/** Node refuses to strip types below node_modules, so an installed package runs what `npm pack` has built. */
function isInstalledPackage(root) {
  return path.basename(path.dirname(root)) === 'node_modules'
}

/** Runs `entry` on a Node that can: in this process if it is one, else in a child that gets our signals. */
function launch(root, entry, args) {
  var version = process.version
  if (!basics.isAtLeast(version, basics.NODE_TO_START)) {
    var needed = 'needs Node ' + basics.NODE_TO_START + ' or newer to start'
    basics.fail(needed + '; this is ' + version + ' (' + process.execPath + ')')
  }
  // Only now: these use syntax that an older Node cannot read.
  var install = require('./install.cjs')
  var run = require('./run.cjs')

  function start() {
    run.prependPath(path.join(root, 'node_modules', '.bin'))
    if (basics.isAtLeast(version, basics.NODE_TO_RUN)) run.runHere(root, entry, args)
    else run.runChild(install.provisionedNode(root), process.argv.slice(1))
  }
  if (isInstalledPackage(root)) start()
  else install.ensureInstalled(root, start)
}

module.exports = { launch: launch, isInstalledPackage: isInstalledPackage }
