export { run } from './run.js'
