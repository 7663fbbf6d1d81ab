export { createServer, type Server, type ServerDeps, VERSION } from './app.js'
export { type Flags, readConfig } from './config/read-config.js'
export { type Config, ConfigError, isProduction, type Settings } from './config/settings.js'
export { type DatabaseState, type FolderState, inspectDatabase, inspectFolder, tryModel } from './diagnose.js'
export { createLocalKey, resetAdministratorKey } from './local-keys.js'
export {
  backUpData,
  type DataPlace,
  type MovedData,
  type MoveOptions,
  migrateData,
  restoreData,
  verifyBackup,
} from './move-data.js'
export {
  DEMO_NAMES,
  DEMO_SUBJECT,
  type DemoAccess,
  type RunningDemo,
  type StartDemo,
} from './services/operations/demo.js'
export { StoreError } from './store/store-error.js'
