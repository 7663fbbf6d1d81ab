// esbuild bundles style sheets; for the compiler they are modules without exports.
declare module '*.css'
