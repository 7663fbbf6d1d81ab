// Prints the address of each module that a program loads on stderr: node --import ./list-modules.mjs program.js
import { register } from 'node:module'

const hooks = `
import { writeSync } from 'node:fs'
export function load(url, context, next) {
  if (url.startsWith('file:')) writeSync(2, url + '\\n')
  return next(url, context)
}`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
