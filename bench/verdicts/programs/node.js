// A server on Node. It prints its port, and when it goes down and comes up again.
//   /hello         answers at once
//   /busy/N        sorts an array of N numbers: work of its one thread
//   /delay/MS      answers after MS milliseconds, however many ask
//   /bucket/RATE   lets RATE requests a second through, at most 20 at once; refuses the rest with 429
//   /down/MS/FOR   answers after 10 ms; MS after the first request it refuses connections, for FOR milliseconds
const http = require('http')

let tokens = 20, filled = performance.now(), isTimed = false

function work(count) {
  let x = 12345
  const numbers = new Array(count)
  for (let i = 0; i < count; i++) { x = (x * 1103515245 + 12345) & 0x7fffffff; numbers[i] = x }
  return String(numbers.sort((a, b) => a - b)[0])
}

function isLetThrough(rate) {
  const now = performance.now()
  tokens = Math.min(20, tokens + (now - filled) * rate / 1000)
  filled = now
  if (tokens < 1) return false
  tokens -= 1
  return true
}

function goDown(after, length) {
  if (isTimed) return
  isTimed = true
  const first = performance.now(), port = server.address().port
  const say = (word) => console.log(word, ((performance.now() - first) / 1000).toFixed(3))
  setTimeout(() => { server.close(); server.closeAllConnections(); say('down') }, after)
  setTimeout(() => server.listen(port, '127.0.0.1', () => say('up')), after + length)
}

const server = http.createServer((request, response) => {
  const [, path, first, second] = request.url.split('/')
  if (path === 'busy') return response.end(work(+first))
  if (path === 'delay') return setTimeout(() => response.end('ok'), +first)
  if (path === 'bucket') { response.statusCode = isLetThrough(+first) ? 200 : 429; return response.end('ok') }
  if (path === 'down') { goDown(+first, +second); return setTimeout(() => response.end('ok'), 10) }
  response.end('hello')
})
server.listen(0, '127.0.0.1', () => console.log('port', server.address().port))
