export { DEMO_INFO, type Demo, type DemoOptions, startDemo } from './start-demo.js'
