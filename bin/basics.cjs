'use strict'

// Old syntax on purpose: this file must load on any Node, if only to say which one is needed.

var NODE_TO_START = '20.19.0'
var NODE_TO_RUN = '24.15.0'
var EXIT_CANNOT_PROVIDE = 70

function say(text) {
  process.stderr.write('purser: ' + text + '\n')
}

function fail(text) {
  say(text)
  process.exit(EXIT_CANNOT_PROVIDE)
}

function isAtLeast(version, wanted) {
  var have = version.replace(/^v/, '').split('.')
  var want = wanted.split('.')
  for (var i = 0; i < 3; i++) {
    if (Number(have[i]) !== Number(want[i])) return Number(have[i]) > Number(want[i])
  }
  return true
}

module.exports = {
  NODE_TO_START: NODE_TO_START,
  NODE_TO_RUN: NODE_TO_RUN,
  say: say,
  fail: fail,
  isAtLeast: isAtLeast,
}
