// Dry runs of what is in deploy/, as far as the programs for it are installed.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileSchema } from '@switchboard/protocol'
import { afterAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { below, ROOT } from './tree.mjs'

const DEPLOY = join(ROOT, 'deploy')
const CHART = join(DEPLOY, 'helm/switchboard')
const files = [...below(DEPLOY)].filter((entry) => !entry.folder).map(({ path }) => path)
const read = (...path) => readFileSync(join(DEPLOY, ...path), 'utf8')
const has = (program, ...args) => spawnSync(program, args).error === undefined
const work = mkdtempSync(join(tmpdir(), 'switchboard-deploy-'))
afterAll(() => rmSync(work, { recursive: true }))

describe('deploy', () => {
  it('has only YAML that can be parsed', () => {
    const yaml = files.filter((path) => /\.ya?ml$/.test(path) && !path.includes('/templates/'))
    expect(yaml.length).toBeGreaterThan(6)
    for (const path of yaml) expect([path, parse(readFileSync(path, 'utf8'))]).toEqual([path, expect.anything()])
  })

  it('sets only variables that the directory reads', () => {
    const server = join(ROOT, 'packages/server/src/config')
    const sources = [...below(server)].filter((entry) => !entry.folder).map(({ path }) => readFileSync(path, 'utf8'))
    const known = new Set(sources.join('\n').match(/SWITCHBOARD_[A-Z_]+/g))
    /** Of compose.yaml itself. */
    const own = ['SWITCHBOARD_IMAGE', 'SWITCHBOARD_MEMORY', 'SWITCHBOARD_HTTP_PORT', 'SWITCHBOARD_HTTPS_PORT']
    for (const path of files.filter((path) => !path.includes('/observability/'))) {
      const used = readFileSync(path, 'utf8').match(/SWITCHBOARD_[A-Z_]+/g) ?? []
      const unknown = used.filter((name) => !known.has(name.replace(/_FILE$/, '')) && !own.includes(name))
      expect([path, unknown]).toEqual([path, []])
    }
  })
})

describe('deploy/docker', () => {
  it('builds from files that exist and are not ignored, and runs as another user than root', () => {
    const lines = read('docker/Dockerfile').split('\n')
    const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n')
    for (const name of ['package.json', 'package-lock.json', '.npmrc', 'packages', 'scripts', 'LICENSE', 'NOTICE']) {
      expect([name, existsSync(join(ROOT, name)), ignored.includes(name)]).toEqual([name, true, false])
    }
    const scripts = lines.join('\n').match(/deploy\/docker\/[\w.-]+(?= |\n|$)/g)
    for (const name of scripts) expect([name, existsSync(join(ROOT, name))]).toEqual([name, true])
    const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM')))
    expect(last).toContain('USER 10001:0')
    expect(last.some((line) => line.startsWith('HEALTHCHECK'))).toBe(true)
  })

  it('installs the packages that the command needs', () => {
    const needed = new Set()
    const add = (name) => {
      needed.add(name)
      const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'packages', name, 'package.json'), 'utf8'))
      for (const other of Object.keys(dependencies ?? {})) {
        const own = /^@switchboard\/(.+)$/.exec(other)?.[1]
        if (own && !needed.has(own)) add(own)
      }
    }
    add('cli')
    const [, listed] = /for name in ([\w -]+);/.exec(read('docker/install-packed.sh'))
    expect(listed.split(' ').sort()).toEqual([...needed].sort())
  })
})

describe('deploy/compose', () => {
  const compose = parse(read('compose/compose.yaml'), { merge: true })

  it('declares every secret, network and volume that it uses, and mounts only files that exist', () => {
    for (const [name, service] of Object.entries(compose.services)) {
      expect([name, service.image]).toEqual([name, expect.any(String)])
      for (const secret of service.secrets ?? []) expect(compose.secrets).toHaveProperty(secret)
      for (const network of service.networks) expect(compose.networks).toHaveProperty(network)
      for (const volume of service.volumes ?? []) {
        const [source] = volume.split(':')
        if (source.startsWith('.'))
          expect([source, existsSync(join(DEPLOY, 'compose', source))]).toEqual([source, true])
        else expect(compose.volumes).toHaveProperty(source)
      }
      const others = Array.isArray(service.depends_on) ? service.depends_on : Object.keys(service.depends_on ?? {})
      for (const other of others) expect(compose.services).toHaveProperty(other)
      for (const value of Object.values(service.environment ?? {})) {
        const secret = /^\/run\/secrets\/(\w+)$/.exec(value)?.[1]
        if (secret) expect([name, service.secrets]).toEqual([name, expect.arrayContaining([secret])])
      }
    }
    const replicas = Object.keys(compose.services).filter((name) => name.startsWith('directory-'))
    const proxied = read('compose/nginx.conf').match(/directory-\d+(?=:8040)/g)
    const {
      scrape_configs: [scraped],
    } = parse(read('compose/prometheus.yml'))
    expect(proxied).toEqual(replicas)
    expect(scraped.static_configs[0].targets).toEqual(replicas.map((name) => `${name}:8040`))
  })

  it.skipIf(!has('openssl', 'version'))('creates every secret once, for its owner only', () => {
    const copy = join(work, 'make-secrets.sh')
    writeFileSync(copy, read('compose/make-secrets.sh'))
    execFileSync('sh', [copy, 'directory.example'])
    const contents = () => Object.values(compose.secrets).map(({ file }) => readFileSync(join(work, file), 'utf8'))
    const first = contents()
    expect(first.every((text) => text.length > 16)).toBe(true)
    execFileSync('sh', [copy, 'directory.example'])
    expect(contents()).toEqual(first)
  })

  it.skipIf(!has('nginx', '-v') || !has('openssl', 'version'))('has a config that nginx accepts', () => {
    const copy = join(work, 'make-secrets.sh')
    writeFileSync(copy, read('compose/make-secrets.sh'))
    execFileSync('sh', [copy, 'directory.example'])
    const config = read('compose/nginx.conf')
      .replaceAll(/directory-(\d)/g, '127.0.0.$1')
      .replaceAll('/run/secrets/certificate_key', join(work, 'secrets/certificate-key.pem'))
      .replaceAll('/run/secrets/certificate', join(work, 'secrets/certificate.pem'))
      .replaceAll('/tmp/nginx.pid', join(work, 'nginx.pid'))
    writeFileSync(join(work, 'nginx.conf'), config)
    const { status, stderr } = spawnSync('nginx', ['-t', '-c', join(work, 'nginx.conf'), '-e', 'stderr'])
    expect([status, String(stderr)]).toEqual([0, expect.stringContaining('test is successful')])
  })

  it.skipIf(!has('promtool', '--version'))('has a config that Prometheus accepts', () => {
    const { status, stdout } = spawnSync('promtool', [
      'check',
      'config',
      '--syntax-only',
      join(DEPLOY, 'compose/prometheus.yml'),
    ])
    expect([status, String(stdout)]).toEqual([0, expect.stringContaining('SUCCESS')])
  })
})

describe('deploy/helm', () => {
  const schema = JSON.parse(read('helm/switchboard/values.schema.json'))
  const values = parse(read('helm/switchboard/values.yaml'))
  const check = compileSchema(schema)

  it('has values that its schema accepts, and a schema that rejects mistakes', () => {
    expect(check(values)).toEqual([])
    for (const wrong of [
      { replicaCount: 0 },
      { replicas: 2 },
      { publicUrl: 'http://directory.example' },
      { store: 'sqlite' },
      { image: { tag: '1' } },
      { secrets: { adminkey: 'x' } },
      { service: { type: 'ClusterIP', port: 'http' } },
    ]) {
      expect([wrong, check({ ...values, ...wrong }).length]).toEqual([wrong, expect.toSatisfy((count) => count > 0)])
    }
    expect(
      Object.keys(schema.properties)
        .filter((name) => name !== 'global')
        .sort(),
    ).toEqual(Object.keys(values).sort())
  })

  it('uses values that exist, and all of them', () => {
    const templates = files
      .filter((path) => path.startsWith(join(CHART, 'templates')))
      .map((path) => readFileSync(path, 'utf8'))
    const used = [...templates.join('\n').matchAll(/\.Values\.([\w.]+)/g)].map(([, path]) => path)
    expect(used.length).toBeGreaterThan(30)
    for (const path of used) expect(values).toHaveProperty(path)
    for (const name of Object.keys(values))
      expect([name, used.some((path) => path.split('.')[0] === name)]).toEqual([name, true])
    for (const text of templates) {
      const [opened, closed] = [/{{-? (if|range|with|define) /g, /{{-? end -?}}/g].map(
        (what) => text.match(what)?.length ?? 0,
      )
      expect(opened).toBe(closed)
    }
    const defined = new Set([...templates.join('\n').matchAll(/define "([\w.]+)"/g)].map(([, name]) => name))
    for (const [, name] of templates.join('\n').matchAll(/include "([\w.]+)"/g)) expect(defined).toContain(name)
  })

  it.skipIf(!has('helm', 'version'))('passes helm lint and helm template', () => {
    const set = 'secrets.existingSecret=mine,autoscaling.enabled=true,ingress.enabled=true,networkPolicy.enabled=true'
    execFileSync('helm', ['lint', '--strict', CHART, '--set', set])
    execFileSync('helm', ['template', 'x', CHART, '--set', `${set},serviceMonitor.enabled=true`])
    execFileSync('helm', ['template', 'x', CHART, '--set', 'secrets.existingSecret=mine,store=embedded,replicaCount=1'])
  })
})

describe('deploy/systemd', () => {
  it.skipIf(!has('systemd-analyze', '--version'))('has a unit that systemd accepts, and that is hardened', () => {
    const unit = join(DEPLOY, 'systemd/switchboard.service')
    const verified = spawnSync('systemd-analyze', ['verify', unit])
    expect([verified.status, String(verified.stderr)]).toEqual([0, ''])
    const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', '--no-pager', unit])
    const exposure = Number(/exposure level for \S+: ([\d.]+)/.exec(String(stdout))?.[1])
    expect(exposure).toBeLessThan(2)
  })
})
