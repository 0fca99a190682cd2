// A server with a pool of permits: each request holds one for a time, first come, first served. It prints its port.
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"time"
)

func main() {
	permits := flag.Int("permits", 4, "requests that are served at a time")
	hold := flag.Duration("hold", 20*time.Millisecond, "how long each holds its permit")
	flag.Parse()
	pool := make(chan struct{}, *permits)
	http.HandleFunc("/", func(answer http.ResponseWriter, request *http.Request) {
		select {
		case pool <- struct{}{}:
			time.Sleep(*hold)
			<-pool
			fmt.Fprint(answer, "ok")
		case <-request.Context().Done():
		}
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println("port", listener.Addr().(*net.TCPAddr).Port)
	panic(http.Serve(listener, nil))
}
