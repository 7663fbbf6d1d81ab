export { createServer, type Server, type ServerDeps, VERSION } from './app.js'
export { type Config, ConfigError, type Flags, readConfig, type Settings } from './config.js'
export { resetAdministratorKey } from './reset-administrator-key.js'
export { StoreError } from './store/store-error.js'
