export { createServer, type Server, type ServerDeps, VERSION } from './app.js'
export { type Flags, readConfig } from './config/read-config.js'
export { type Config, ConfigError, type Settings } from './config/settings.js'
export {
  backUpData,
  type DataPlace,
  type MovedData,
  type MoveOptions,
  migrateData,
  restoreData,
  verifyBackup,
} from './move-data.js'
export { resetAdministratorKey } from './reset-administrator-key.js'
export { StoreError } from './store/store-error.js'
