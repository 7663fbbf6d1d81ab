// Exits with 0 if the directory in this container is ready, or serves from memory while its database is away.
import { request as http } from 'node:http'
import { request as https } from 'node:https'

const { SWITCHBOARD_PORT: port = '8040', SWITCHBOARD_TLS_CERT: certificate } = process.env
const send = certificate ? https : http
// Its own certificate need not name this address.
const options = { host: '127.0.0.1', port, path: '/health/ready', timeout: 4000, rejectUnauthorized: false }
send(options, (response) => process.exit(response.statusCode === 200 ? 0 : 1))
  .on('timeout', () => process.exit(1))
  .on('error', () => process.exit(1))
  .end()
