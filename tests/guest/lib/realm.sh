# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A Kerberos realm in the guest: KDC, gssd, svcgssd. realm_start makes it; root has the
# keys of a machine, alice has a key of her own.

# Tickets with brief.conf end after so many seconds.
BRIEF=12

# Everything is in this directory. Keys are random, so no password is stretched
# but the database's.
K=/run/kerberos
export KRB5_CONFIG=$K/krb5.conf KRB5_KDC_PROFILE=$K/kdc.conf
export KRB5_KTNAME=$K/keytab KRB5RCACHEDIR=$K

realm_conf() { # LIFETIME
	cat <<-EOF
	[libdefaults]
	default_realm = LAB
	ticket_lifetime = $1
	dns_lookup_kdc = false
	dns_canonicalize_hostname = false
	rdns = false
	permitted_enctypes = aes128-cts-hmac-sha1-96 aes256-cts-hmac-sha384-192
	[realms]
	LAB = {
		kdc = 127.0.0.1
	}
	[domain_realm]
	server = LAB
	lab = LAB
	EOF
}

realm_files() {
	realm_conf 1h > $K/krb5.conf
	realm_conf ${BRIEF}s > $K/brief.conf
	cat > $K/kdc.conf <<-EOF
	[kdcdefaults]
	kdc_listen = 127.0.0.1:88
	kdc_tcp_listen = ""
	[realms]
	LAB = {
		database_name = $K/principal
		key_stash_file = $K/stash
		acl_file = $K/acl
		master_key_type = aes128-cts-hmac-sha1-96
		supported_enctypes = aes128-cts-hmac-sha1-96:normal aes256-cts-hmac-sha384-192:normal
	}
	EOF
	cat > $K/idmapd.conf <<-EOF
	[General]
	Domain = lab
	[Translation]
	Method = static
	[Static]
	host/lab@LAB = root
	alice@LAB = alice
	EOF
}

realm_start() {
	rm -rf $K
	mkdir -p $K
	mkdir -m 1777 $K/tickets
	realm_files
	# svcgssd reads no other, and gssd wants to know its own name
	cp $K/idmapd.conf /etc/idmapd.conf
	grep -q '^127.0.1.1 lab$' /etc/hosts || echo '127.0.1.1 lab' >> /etc/hosts
	kdb5_util create -r LAB -s -P lab
	kadmin.local <<-EOF
	addprinc -randkey nfs/server
	addprinc -randkey host/lab
	addprinc -randkey alice
	ktadd -k $K/keytab nfs/server host/lab
	ktadd -k $K/alice.keytab alice
	EOF
	chmod 644 $K/alice.keytab
	krb5kdc -P $K/krb5kdc.pid
	rpc.svcgssd -f -vv >> "$LAB_OUT/svcgssd" 2>&1 &
	gssd_start $K/krb5.conf
}

gssd_start() { # KRB5.CONF
	KRB5_CONFIG=$1 rpc.gssd -f -vv -k $K/keytab -d $K/tickets \
		>> "$LAB_OUT/gssd" 2>&1 &
}

gssd_stop() {
	pkill -x rpc.gssd
	lab_wait 10 eval "! pidof rpc.gssd"
	rm -f $K/tickets/krb5ccmachine_LAB
}

# contexts: how many gssd has made.
contexts() { grep -c "^do_downcall(" "$LAB_OUT/gssd" || true; }
