// nginx from the system's packages: one worker process, with its own configuration.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../registry/processes.mjs'

const CONNECTIONS = 8192
const START_MS = 5000

export const hasNginx = () => spawnSync('nginx', ['-v']).status === 0

const toConfig = (folder, port, upstream) => `
daemon off;
master_process off;
pid ${folder}/pid;
error_log ${folder}/error.log;
worker_rlimit_nofile ${CONNECTIONS * 2};
events { worker_connections ${CONNECTIONS}; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  keepalive_requests 1000000000;
  upstream agent { server 127.0.0.1:${upstream}; keepalive 1024; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://agent;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`

/** @returns {Promise<import('../registry/processes.mjs').Running>} */
export async function startNginx(parent, upstream) {
  const folder = join(parent, 'nginx')
  mkdirSync(folder)
  const port = await freePort()
  const config = join(folder, 'nginx.conf')
  writeFileSync(config, toConfig(folder, port, upstream.port))
  const started = performance.now()
  const child = spawn('nginx', ['-c', config, '-p', folder, '-e', join(folder, 'error.log')], { stdio: 'ignore' })
  const kill = () => child.kill('SIGKILL')
  process.on('exit', kill)
  const ended = once(child, 'exit')
  while (!(await answers(port))) {
    if (child.exitCode !== null || performance.now() - started > START_MS) throw new Error('nginx did not start')
    await sleep(20)
  }
  return {
    port,
    pid: child.pid,
    startMs: performance.now() - started,
    signal: (signal) => void child.kill(signal),
    async stop() {
      process.off('exit', kill)
      child.kill('SIGTERM')
      await ended
    },
  }
}

const answers = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
