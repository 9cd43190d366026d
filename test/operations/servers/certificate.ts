import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { newFolder, runProgram } from './process.js'
import { programOf } from './programs.js'

/** The programs that `makeCertificate` needs. */
export const OPENSSL = ['openssl']

/** A certificate that signs itself, for a server at 127.0.0.1 and for its clients. */
export interface Certificate {
  readonly certFile: string
  readonly keyFile: string
  /** The option `ssl` of a client that checks the server, and has the same certificate. */
  readonly ssl: { readonly ca: string; readonly cert: string; readonly key: string }
  readonly stop: () => Promise<void>
}

export function makeCertificate(): Certificate {
  const folder = newFolder('certificate')
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const kind = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2']
  const name = ['-subj', '/CN=postgres', '-addext', 'subjectAltName=IP:127.0.0.1']
  runProgram(folder, programOf('openssl'), [...kind, ...name, '-keyout', keyFile, '-out', certFile])
  const cert = readFileSync(certFile, 'utf8')
  return {
    certFile,
    keyFile,
    ssl: { ca: cert, cert, key: readFileSync(keyFile, 'utf8') },
    stop: async () => rmSync(folder, { recursive: true, force: true }),
  }
}
