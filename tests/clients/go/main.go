// SPDX-License-Identifier: Apache-2.0
// main.go - connect-go against testd: every kind of method by every protocol that it speaks.
//
//	connect-go-client http://127.0.0.1:PORT http://127.0.0.1:PORT-OF-ONE-WITH-KEYS
//
// Prints a line for each case that went well; the first that did not ends it with exit code 1.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"

	connect "connectrpc.com/connect"
	"golang.org/x/net/http2"
	errdetails "google.golang.org/genproto/googleapis/rpc/errdetails"

	echo "torg/clients/echo"
)

const service = "/torg.test.v1.EchoService/"

type request = echo.EchoRequest
type response = echo.EchoResponse

func must(what string, good bool, more ...any) {
	if !good {
		fmt.Println("FAILED", what, fmt.Sprint(more...))
		os.Exit(1)
	}
	fmt.Println("ok", what)
}

// HTTP/2 without TLS, by prior knowledge.
func plainHTTP2() *http.Client {
	return &http.Client{Transport: &http2.Transport{
		AllowHTTP: true,
		DialTLSContext: func(ctx context.Context, network, address string, _ *tls.Config) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}}
}

func unary(name string, client *http.Client, url string, options []connect.ClientOption) {
	call := connect.NewClient[request, response](client, url+service+"Echo", options...)
	got, err := call.CallUnary(context.Background(), connect.NewRequest(&request{Text: "ä"}))
	must(name+" unary", err == nil && got.Msg.Text == "ä", err)
	got, err = call.CallUnary(context.Background(), connect.NewRequest(&request{ReplySize: 100000}))
	must(name+" packed", err == nil && len(got.Msg.Text) == 100000, err)
}

func failures(name string, client *http.Client, url string, options []connect.ClientOption) {
	call := connect.NewClient[echo.FailRequest, response](client, url+service+"Fail", options...)
	_, err := call.CallUnary(context.Background(), connect.NewRequest(
		&echo.FailRequest{Code: "INVALID", Text: "no", Fields: []string{"page_size"}}))
	var failed *connect.Error
	must(name+" error", errors.As(err, &failed) && failed.Code() == connect.CodeInvalidArgument &&
		failed.Message() == "no" && len(failed.Details()) == 1, err)
	detail, err := failed.Details()[0].Value()
	bad, is := detail.(*errdetails.BadRequest)
	must(name+" details", err == nil && is && strings.HasPrefix(bad.FieldViolations[0].Field, "page"), err)
	none := connect.NewClient[request, response](client, url+service+"None", options...)
	_, err = none.CallUnary(context.Background(), connect.NewRequest(&request{}))
	must(name+" no such method", connect.CodeOf(err) == connect.CodeUnimplemented, err)
	sleep := connect.NewClient[echo.SleepRequest, response](client, url+service+"Sleep", options...)
	late := connect.NewRequest(&echo.SleepRequest{Milliseconds: 100000})
	// The server's own deadline: a context's end may cut off the answer that tells it.
	if strings.HasPrefix(name, "connect") {
		late.Header().Set("Connect-Timeout-Ms", "300")
	} else {
		late.Header().Set("Grpc-Timeout", "300m")
	}
	_, err = sleep.CallUnary(context.Background(), late)
	must(name+" deadline", connect.CodeOf(err) == connect.CodeDeadlineExceeded, err)
}

func streams(name string, client *http.Client, url string, options []connect.ClientOption) {
	count := connect.NewClient[echo.CountRequest, response](client, url+service+"Count", options...)
	many, err := count.CallServerStream(context.Background(),
		connect.NewRequest(&echo.CountRequest{Count: 3, ReplySize: 10000}))
	must(name+" server stream begins", err == nil, err)
	seen := 0
	for many.Receive() && many.Msg().Count == int64(seen+1) && len(many.Msg().Text) == 10000 {
		seen++
	}
	must(name+" server stream", seen == 3 && many.Err() == nil, seen, many.Err())
	collect := connect.NewClient[request, response](client, url+service+"Collect", options...)
	sending := collect.CallClientStream(context.Background())
	for _, text := range []string{"a", "b", "c"} {
		_ = sending.Send(&request{Text: text})
	}
	got, err := sending.CloseAndReceive()
	must(name+" client stream", err == nil && got.Msg.Text == "abc" && got.Msg.Count == 3, err)
}

func chat(name string, client *http.Client, url string, options []connect.ClientOption) {
	both := connect.NewClient[request, response](client, url+service+"Chat", options...).
		CallBidiStream(context.Background())
	for i := 1; i <= 3; i++ {
		err := both.Send(&request{Text: fmt.Sprint("line ", i)})
		must(name+" chat sends", err == nil, err)
		got, err := both.Receive()
		must(name+" chat hears", err == nil && got.Text == fmt.Sprint("line ", i), err)
	}
	_ = both.CloseRequest()
	_ = both.CloseResponse()
}

func keys(url string) {
	count := connect.NewClient[echo.CountRequest, response](http.DefaultClient, url+service+"Count")
	many, err := count.CallServerStream(context.Background(), connect.NewRequest(&echo.CountRequest{Count: 1}))
	must("a stream is refused", err == nil && !many.Receive() &&
		connect.CodeOf(many.Err()) == connect.CodeUnauthenticated, err)
	call := connect.NewClient[request, response](http.DefaultClient, url+service+"Echo")
	asked := connect.NewRequest(&request{})
	asked.Header().Set("Authorization", "Bearer good")
	got, err := call.CallUnary(context.Background(), asked)
	must("a key is sent", err == nil && got.Msg.Principal == "good", err)
}

func get(url string, options ...connect.ClientOption) {
	options = append(options, connect.WithHTTPGet(), connect.WithIdempotency(connect.IdempotencyNoSideEffects))
	call := connect.NewClient[request, response](http.DefaultClient, url+service+"Echo", options...)
	got, err := call.CallUnary(context.Background(), connect.NewRequest(&request{Text: "got"}))
	must("by GET", err == nil && got.Msg.Text == "got" && got.Header().Get("Cache-Control") != "", err)
}

func main() {
	url := os.Args[1]
	protocols := []struct {
		name    string
		options []connect.ClientOption
		only2   bool
	}{
		{"connect, proto", nil, false},
		{"connect, json", []connect.ClientOption{connect.WithProtoJSON()}, false},
		{"connect, gzip", []connect.ClientOption{connect.WithSendGzip()}, false},
		{"grpc", []connect.ClientOption{connect.WithGRPC()}, true},
		{"grpc-web", []connect.ClientOption{connect.WithGRPCWeb()}, false},
	}
	for _, each := range protocols {
		clients := map[string]*http.Client{"HTTP/2": plainHTTP2()}
		if !each.only2 {
			clients["HTTP/1.1"] = http.DefaultClient
		}
		for version, client := range clients {
			name := each.name + ", " + version
			unary(name, client, url, each.options)
			failures(name, client, url, each.options)
			streams(name, client, url, each.options)
			if version == "HTTP/2" {
				chat(name, client, url, each.options)
			}
		}
	}
	get(url)
	get(url, connect.WithProtoJSON())
	get(url, connect.WithSendGzip())
	keys(os.Args[2])
	fmt.Println("all went well")
}
