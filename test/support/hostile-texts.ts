const RUN = `document.title='ran'`
const GO = 'https://elsewhere.example/x'

const markup = [
  `<script>${RUN}</script>`,
  `<SCRIPT SRC=${GO}></SCRIPT>`,
  `</script><script>${RUN}</script>`,
  `<scr<script>ipt>${RUN}</scr</script>ipt>`,
  `<img src=x onerror="${RUN}">`,
  `<img src=${GO}>`,
  `<img srcset="${GO} 2x">`,
  `<image href=x onerror=${RUN}>`,
  `<svg onload="${RUN}">`,
  `<svg><script>${RUN}</script></svg>`,
  `<svg><animate onbegin="${RUN}" attributeName=x dur=1s>`,
  `<svg><use href="${GO}#a"/></svg>`,
  `<svg><a xlink:href="javascript:${RUN}"><text y=9>a</text></a></svg>`,
  `<math><mtext></p><img src=x onerror="${RUN}"></math>`,
  `<iframe srcdoc="<script>parent.${RUN}</script>"></iframe>`,
  `<iframe src="${GO}"></iframe>`,
  `<object data="${GO}"></object>`,
  `<embed src="javascript:${RUN}">`,
  `<video src=x onerror="${RUN}"></video>`,
  `<audio autoplay src=${GO}></audio>`,
  `<body onload="${RUN}">`,
  `<details open ontoggle="${RUN}">`,
  `<input autofocus onfocus="${RUN}">`,
  `<marquee onstart="${RUN}">`,
  `<style>@import "${GO}";</style>`,
  `<link rel=stylesheet href=${GO}>`,
  `<link rel=prefetch href=${GO}>`,
  `<meta http-equiv=refresh content="0;url=${GO}">`,
  `<base href="${GO}/">`,
  `<form action="${GO}"><button autofocus>a</button></form>`,
  `<template><script>${RUN}</script></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${RUN}>">`,
  `<textarea></textarea><img src=x onerror="${RUN}">`,
  `<title>ran</title>`,
  `</title><title>ran</title>`,
  `<!--><img src=x onerror="${RUN}">-->`,
  `<![CDATA[<script>${RUN}</script>]]>`,
  `<?xml version="1.0"?><script>${RUN}</script>`,
  `<a href="javascript:${RUN}" autofocus>a</a>`,
  `<x contenteditable onblur="${RUN}" autofocus>a</x>`,
]

const attributes = [
  `"><img src=x onerror="${RUN}">`,
  `'><img src=x onerror='${RUN}'>`,
  `" autofocus onfocus="${RUN}`,
  `' style='background:url(${GO})`,
  `x onmouseover=${RUN} y=`,
  '`><img src=x onerror=`alert(1)`>',
  `&lt;script&gt;${RUN}&lt;/script&gt;`,
  `&#60;img src=x onerror=alert(1)&#62;`,
  `&#x3c;script&#x3e;alert(1)`,
  `\\u003cscript\\u003e${RUN}\\u003c/script\\u003e`,
]

const templates = [
  `{{constructor.constructor("${RUN}")()}}`,
  `\${document.title='ran'}`,
  '{{7*7}}',
  '${7*7}',
  '<%= 7*7 %>',
  '#{7*7}',
  '%{if true}ran%{endif}',
  '[[${7*7}]]',
  '{%raw%}ran{%endraw%}',
  '$(touch ran)',
]

const addresses = [
  `javascript:${RUN}`,
  `JaVaScRiPt:${RUN}`,
  `java\tscript:${RUN}`,
  ` javascript:${RUN}`,
  `javascript://elsewhere.example/%0a${RUN}`,
  `data:text/html,<script>${RUN}</script>`,
  `vbscript:msgbox(1)`,
  `//elsewhere.example/x`,
  GO,
  `blob:${GO}`,
]

const directions = [
  '\u202Etxet desrever',
  'admin\u202Egnp.exe',
  '\u2066isolate\u2069',
  '\u2067to the left\u2069 and back',
  '\u202Dfixed\u202C',
  'שלום <b>world</b>',
  'مرحبا "onload=1',
  '\u200Fmark\u200E',
]

const unseen = [
  'pass\u200Bword',
  'zero\u200Dwidth\u200Cjoiners',
  '\uFEFFbegin',
  'soft\u00ADhyphen',
  'line\u2028separator\u2029s',
  'Z\u0351\u036B\u0343a\u0331\u0345l\u034Cg\u0362o\u0334',
  '\u{E0041}\u{E0042}tags',
  '👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿',
]

const names = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'null',
  '..',
  '../../etc/passwd',
  '%00%2e%2e',
]

const formats = ['=HYPERLINK("https://elsewhere.example","a")', `'; drop table users; --`, '%s%s%s%n']

const long = ['<b>'.repeat(80), 'W'.repeat(250), `a${'\u0301'.repeat(240)}`]

/** A hundred texts that a page must show as they are. Each fits in a description (255 characters). */
export const hostileTexts: readonly string[] = [
  ...markup,
  ...attributes,
  ...templates,
  ...addresses,
  ...directions,
  ...unseen,
  ...names,
  ...formats,
  ...long,
]
